import { claimJobs } from "../store/claim-jobs.js";
import { lookAhead } from "../store/look-ahead.js";
import { queryBuilder } from "../store/query-builder.js";
import { queuedLines } from "../store/queued-lines.js";
import { defineStatement } from "../store/statement.js";
import { checkedMs, checkedName, refuse } from "./check-arguments.js";
import { embedStatement } from "./embed-statement.js";
import type { SqlFunction } from "./sql-function.js";

/** One statement; more would hold locks for long. */
const largestClaim = 1_000;

/** `claim`, and `next_due`: how long there is nothing to claim. */
export function claimFunctions(schema: string): readonly SqlFunction[] {
  return [claim(schema), nextDue(schema)];
}

/**
 * Without claim cursors, which are a hint that a worker keeps in its memory: it reads each line from its beginning. Among lanes
 * of the same priority another one comes first each time.
 */
function claim(schema: string): SqlFunction {
  const statement = embedStatement(claimJobs(schema), {
    groups: "given_groups",
    kinds: "given_kinds",
    limit: "given_limit",
    worker: "given_worker",
    leaseMs: "given_lease_ms",
  });
  const lines = defineStatement<object, { lane: string; priority: number }>(
    queryBuilder(schema)
      .withRecursive("line", () => queuedLines(schema))
      .selectFrom("line")
      .select(["lane", "priority"]),
  );
  return {
    name: "claim",
    parameters: [
      ["lanes", "text[]"],
      ["kinds", "text[]"],
      ["max_jobs", "integer"],
      ["worker", "text"],
      ["lease", "interval", "'30 seconds'"],
    ],
    returns:
      "table (id bigint, kind text, lane text, priority integer, payload jsonb, attempt integer, max_attempts integer, fence integer, key text, created_at timestamptz, run_at timestamptz)",
    body: `
declare
  given_groups text;
  given_kinds text := claim.kinds::text;
  given_limit integer := claim.max_jobs;
  given_worker text := ${checkedName(schema, "claim.worker", "worker", 200)};
  given_lease_ms bigint := ${checkedMs(schema, "claim.lease", "lease", 100, 86_400_000)};
  turn bigint := (pg_catalog.random() * 2147483647)::bigint;
  lines jsonb;
  job record;
begin
  if coalesce(pg_catalog.cardinality(claim.kinds), 0) = 0 then
    ${refuse("'claim: kinds is missing: the kinds that the worker has handlers for, as an array.'")}
  end if;
  if given_limit is null or given_limit not between 1 and ${largestClaim} then
    ${refuse(`'claim: max_jobs must be a whole number from 1 to ${largestClaim}, but is ' || coalesce(given_limit::text, 'null') || '.'`)}
  end if;
  if claim.lanes is null then
    lines := (select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('lane', l.lane, 'priority', l.priority, 'since_id', 0)
                       order by l.priority, pg_catalog.hashtextextended(l.lane, turn))
                from (${embedStatement(lines, {})}) l);
  else
    lines := (select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('lane', l.lane, 'priority', p.priority, 'since_id', 0)
                       order by p.priority, pg_catalog.hashtextextended(l.lane, turn))
                from (select distinct u.lane from unnest(claim.lanes) as u(lane)) l
               cross join pg_catalog.generate_series(0, 9) as p(priority));
  end if;
  if lines is null then
    return;
  end if;
  given_groups := pg_catalog.jsonb_build_array(pg_catalog.jsonb_build_object('take', given_limit, 'lines', lines))::text;
  for job in
    ${statement}
  loop
    continue when job.id is null;
    id := job.id::bigint;
    kind := job.kind;
    lane := job.lane;
    priority := job.priority;
    payload := job.payload::jsonb;
    attempt := job.attempts;
    max_attempts := job.max_attempts;
    fence := job.claims;
    key := job.idempotency_key;
    created_at := timestamptz 'epoch' + job.created_at::bigint * interval '1 microsecond';
    run_at := timestamptz 'epoch' + job.run_at::bigint * interval '1 microsecond';
    return next;
  end loop;
end`,
  };
}

function nextDue(schema: string): SqlFunction {
  return {
    name: "next_due",
    parameters: [
      ["lanes", "text[]"],
      ["kinds", "text[]"],
    ],
    returns: "interval",
    body: `
declare
  given_known text := '[]';
  given_kinds text := next_due.kinds::text;
  line record;
  nearest float8;
begin
  for line in
    ${embedStatement(lookAhead(schema), { known: "given_known", kinds: "given_kinds" })}
  loop
    if next_due.lanes is null or line.lane = any(next_due.lanes) then
      nearest := least(nearest, line.due_in_ms::float8);
    end if;
  end loop;
  return nearest * interval '1 millisecond';
end`,
  };
}
