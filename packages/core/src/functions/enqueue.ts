import { quoteIdentifier } from "../migrations/quote.js";
import { enqueueJobs } from "../store/enqueue-jobs.js";
import { enqueueKeyedJobs } from "../store/enqueue-keyed-jobs.js";
import { refuse } from "./check-arguments.js";
import { embedStatement } from "./embed-statement.js";
import type { SqlFunction } from "./sql-function.js";

/** As in TypeScript: a key changes hands again while it is looked at again only under a storm of enqueues of that key. */
const longestContest = 20;
/** In characters of JSON. A batch is one jsonb, which ends at 256 MB. */
const maxBatchLength = 32 * 1024 * 1024;

/** `enqueue` and `enqueue_many`: jobs in the caller's transaction. */
export function enqueueFunctions(schema: string): readonly SqlFunction[] {
  const s = quoteIdentifier(schema);
  return [
    insertJobs(schema),
    {
      name: "enqueue",
      parameters: [
        ["kind", "text"],
        ["payload", "jsonb", "'null'"],
        ["options", "jsonb", "'{}'"],
      ],
      returns: "table (id bigint, inserted boolean)",
      body: `
begin
  return query select i.id, i.inserted from ${s}.insert_jobs(pg_catalog.jsonb_build_array(
    ${s}.prepare_job(enqueue.kind, enqueue.payload, enqueue.options, 0, ''))) i;
end`,
    },
    {
      name: "enqueue_many",
      parameters: [["items", "jsonb"]],
      returns: "table (item integer, id bigint, inserted boolean)",
      body: `
declare
  given jsonb;
  unknown text;
  prepared jsonb;
begin
  if pg_catalog.jsonb_typeof(enqueue_many.items) is distinct from 'array' then
    ${refuse("'enqueue_many takes a JSON array of {\"kind\": ..., \"payload\": ..., \"options\": ...}, but was given ' || coalesce(pg_catalog.left(enqueue_many.items::text, 100), 'null') || '.'")}
  end if;
  if pg_catalog.char_length(enqueue_many.items::text) > ${maxBatchLength} then
    ${refuse(`'The items are more than ${maxBatchLength} characters of JSON: enqueue them in several calls.'`)}
  end if;
  for item, given in select g.place::integer - 1, g.value from pg_catalog.jsonb_array_elements(enqueue_many.items) with ordinality as g(value, place) loop
    if pg_catalog.jsonb_typeof(given) <> 'object' then
      ${refuse("pg_catalog.format('Item %s must be a JSON object, but is %s.', enqueue_many.item, pg_catalog.left(given::text, 100))")}
    end if;
    unknown := (select o.name from pg_catalog.jsonb_object_keys(given) as o(name) where o.name <> all('{kind,payload,options}') limit 1);
    if unknown is not null then
      ${refuse("pg_catalog.format('Item %s: an item has no %s. It has: kind, payload, options.', enqueue_many.item, pg_catalog.to_json(pg_catalog.left(unknown, 100)))")}
    end if;
  end loop;
  prepared := (
    select pg_catalog.jsonb_agg(${s}.prepare_job(
             ${s}.option_text(nullif(g.value -> 'kind', 'null'), pg_catalog.format('Item %s: kind', g.place - 1)),
             g.value -> 'payload', g.value -> 'options', g.place::integer - 1, pg_catalog.format('Item %s: ', g.place - 1)) order by g.place)
      from pg_catalog.jsonb_array_elements(enqueue_many.items) with ordinality as g(value, place));
  if prepared is not null then
    return query select i.item, i.id, i.inserted from ${s}.insert_jobs(prepared) i;
  end if;
end`,
    },
  ];
}

/** Inserts jobs that `prepare_job` has made, and asks again for those whose key changed hands meanwhile. */
function insertJobs(schema: string): SqlFunction {
  const given = { rows: "given_rows" };
  return {
    name: "insert_jobs",
    parameters: [["prepared", "jsonb"]],
    returns: "table (item integer, id bigint, inserted boolean)",
    body: `
declare
  given_rows text := insert_jobs.prepared::text;
  answer record;
  places integer[];
  contested integer[];
  ids bigint[];
  insertions boolean[];
  n integer := 0;
begin
  if not exists (select from pg_catalog.jsonb_array_elements(insert_jobs.prepared) as p(job) where p.job ->> 'key' is not null) then
    for answer in
      ${embedStatement(enqueueJobs(schema), given)}
    loop
      item := n;
      id := answer.id::bigint;
      inserted := true;
      n := n + 1;
      return next;
    end loop;
    return;
  end if;
  places := array(select pg_catalog.generate_series(0, pg_catalog.jsonb_array_length(insert_jobs.prepared) - 1));
  for turn in 0 .. ${longestContest} loop
    n := 0;
    contested := '{}';
    for answer in
      ${embedStatement(enqueueKeyedJobs(schema), given)}
    loop
      n := n + 1;
      ids[places[n] + 1] := answer.id::bigint;
      insertions[places[n] + 1] := answer.inserted;
      if answer.contested then
        contested := contested || places[n];
      end if;
    end loop;
    exit when pg_catalog.cardinality(contested) = 0;
    places := contested;
    given_rows := (select pg_catalog.jsonb_agg(insert_jobs.prepared -> u.place order by u.n)
                     from unnest(places) with ordinality as u(place, n))::text;
  end loop;
  return query select u.n::integer - 1, u.id, u.inserted from unnest(ids, insertions) with ordinality as u(id, inserted, n);
end`,
  };
}
