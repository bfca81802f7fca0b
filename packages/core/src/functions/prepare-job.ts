import { maxPayloadLength } from "../job/encode-payload.js";
import { quoteIdentifier } from "../migrations/quote.js";
import { refuse } from "./check-arguments.js";
import type { SqlFunction } from "./sql-function.js";

const names = ["key", "keyHolds", "delay", "runAt", "priority", "maxAttempts", "lane"];
const maxInteger = 2_147_483_647;
const defaultHoldMs = 30 * 86_400_000;

/**
 * One job as the enqueue statements take it: everything about it checked, defaults put in. An option that is null is one that was
 * not given. `place` begins each message: where the job stands in a batch.
 */
export function prepareJobFunction(schema: string): SqlFunction {
  const s = quoteIdentifier(schema);
  const option = (name: string) => `options -> '${name}'`;
  const called = (name: string) => `prepare_job.place || '${name}'`;
  const text = (name: string, mostBytes: number) =>
    `${s}.check_name(${s}.option_text(${option(name)}, ${called(name)}), ${called(name)}, ${mostBytes})`;
  return {
    name: "prepare_job",
    parameters: [
      ["kind", "text"],
      ["payload", "jsonb"],
      ["options", "jsonb"],
      ["at", "integer"],
      ["place", "text"],
    ],
    returns: "jsonb",
    isPure: true,
    body: `
declare
  options jsonb := pg_catalog.jsonb_strip_nulls(coalesce(prepare_job.options, '{}'));
  payload jsonb := coalesce(prepare_job.payload, 'null');
  unknown text;
  key_holds jsonb;
  release_on text;
  run_at text;
begin
  perform ${s}.check_name(prepare_job.kind, ${called("kind")}, 200);
  if pg_catalog.jsonb_typeof(options) <> 'object' then
    ${refuse("pg_catalog.format('%sthe options of enqueue must be a JSON object, but are %s.', prepare_job.place, pg_catalog.left(options::text, 100))")}
  end if;
  unknown := (select o.name from pg_catalog.jsonb_object_keys(options) as o(name) where o.name <> all('{${names.join(",")}}') limit 1);
  if unknown is not null then
    ${refuse(`pg_catalog.format('%senqueue has no option %s. It has: ${names.join(", ")}.', prepare_job.place, pg_catalog.to_json(pg_catalog.left(unknown, 100)))`)}
  end if;
  if pg_catalog.jsonb_exists(options, 'delay') and pg_catalog.jsonb_exists(options, 'runAt') then
    ${refuse("prepare_job.place || 'delay and runAt contradict each other: give one of them.'")}
  end if;
  key_holds := options -> 'keyHolds';
  if key_holds is not null and not pg_catalog.jsonb_exists(options, 'key') then
    ${refuse("prepare_job.place || 'keyHolds says how long a key is held, but there is no key.'")}
  end if;
  if pg_catalog.char_length(payload::text) > ${maxPayloadLength} then
    ${refuse(`pg_catalog.format('%sthe payload is %s characters of JSON, more than ${maxPayloadLength}: store the data elsewhere and enqueue its id.', prepare_job.place, pg_catalog.char_length(payload::text))`)}
  end if;
  release_on := case key_holds #>> '{}' when 'until-started' then 'started' when 'until-ended' then 'ended' end;
  run_at := ${s}.instant_text(options -> 'runAt', ${called("runAt")});
  return pg_catalog.jsonb_build_object(
    'position', prepare_job.at,
    'kind', prepare_job.kind,
    'payload', payload,
    'lane', case when pg_catalog.jsonb_exists(options, 'lane') then ${text("lane", 200)} else 'default' end,
    'priority', case when pg_catalog.jsonb_exists(options, 'priority') then ${s}.whole_number(${option("priority")}, ${called("priority")}, 0, 9) else 5 end,
    'max_attempts', case when pg_catalog.jsonb_exists(options, 'maxAttempts')
      then ${s}.whole_number(${option("maxAttempts")}, ${called("maxAttempts")}, 1, ${maxInteger}) else 8 end,
    'delay_ms', case when pg_catalog.jsonb_exists(options, 'delay') then ${s}.duration_ms(${option("delay")}, ${called("delay")}, 0) else 0 end,
    'run_at', run_at,
    'key', case when pg_catalog.jsonb_exists(options, 'key') then ${text("key", 1_000)} end,
    'hold_ms', case when not pg_catalog.jsonb_exists(options, 'key') or release_on is not null then null
      when key_holds is null then ${defaultHoldMs} else ${s}.duration_ms(key_holds, ${called("keyHolds")}, 1) end,
    'release_on', release_on);
end`,
  };
}

/** What an option must be that is a text, and one that is a moment: with its offset, since sessions differ in their time zones. */
export const optionReaders: readonly SqlFunction[] = [
  {
    name: "option_text",
    parameters: [
      ["value", "jsonb"],
      ["option", "text"],
    ],
    returns: "text",
    isPure: true,
    body: `
begin
  if pg_catalog.jsonb_typeof(option_text.value) <> 'string' then
    ${refuse("pg_catalog.format('%s must be a string, but is %s.', option_text.option, pg_catalog.left(option_text.value::text, 100))")}
  end if;
  return option_text.value #>> '{}';
end`,
  },
  {
    name: "instant_text",
    parameters: [
      ["value", "jsonb"],
      ["option", "text"],
    ],
    returns: "text",
    isPure: true,
    body: `
declare
  given text := instant_text.value #>> '{}';
begin
  if given is null then
    return null;
  end if;
  if given ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(|:[0-9]{2}(|[.][0-9]{1,9}))(Z|[+-][0-9]{2}(|:[0-9]{2}))$' then
    begin
      perform given::timestamptz;
      return given;
    exception when datetime_field_overflow or invalid_datetime_format then
      null;
    end;
  end if;
  ${refuse(`pg_catalog.format('%s must be a moment with its offset ("2030-01-31T08:00:00Z", "2030-01-31T08:00:00+01:00"), but is %s.', instant_text.option, pg_catalog.left(instant_text.value::text, 100))`)}
end`,
  },
];
