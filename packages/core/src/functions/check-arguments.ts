import { quoteIdentifier, quoteLiteral } from "../migrations/quote.js";
import { maxDurationMs } from "../job/duration.js";
import type { SqlFunction } from "./sql-function.js";

/** invalid_parameter_value */
const invalid = "22023";

/** The statement that refuses an argument; `message` is an SQL expression. */
export function refuse(message: string): string {
  return `raise exception using errcode = '${invalid}', message = ${message};`;
}

/** A call of `check_name`: the argument, or the error of who gave none, or one that cannot be. */
export function checkedName(schema: string, argument: string, option: string, mostBytes: number): string {
  return `${quoteIdentifier(schema)}.check_name(${argument}, ${quoteLiteral(option)}, ${mostBytes})`;
}

/** A call of `interval_ms`: the milliseconds of an interval, which must be there and within bounds. */
export function checkedMs(schema: string, argument: string, option: string, leastMs = 0, mostMs = maxDurationMs): string {
  return `${quoteIdentifier(schema)}.interval_ms(${argument}, ${quoteLiteral(option)}, ${leastMs}, ${mostMs})`;
}

/** Refuses null for arguments that have no other limits. */
export function checkPresent(functionName: string, ...names: readonly string[]): string {
  return names
    .map((name) => `if ${functionName}.${name} is null then ${refuse(quoteLiteral(`${functionName}: ${name} is missing.`))} end if;`)
    .join("\n  ");
}

/** What the other functions check their arguments with. The limits are those of TypeScript. */
export const argumentChecks: readonly SqlFunction[] = [
  {
    name: "check_name",
    parameters: [
      ["value", "text"],
      ["option", "text"],
      ["most_bytes", "integer"],
    ],
    returns: "text",
    isPure: true,
    body: `
begin
  if check_name.value is null then
    ${refuse("pg_catalog.format('%s is missing: it must be a string of 1 to %s bytes.', check_name.option, check_name.most_bytes)")}
  end if;
  if check_name.value = '' or pg_catalog.octet_length(check_name.value) > check_name.most_bytes then
    ${refuse("pg_catalog.format('%s must be a string of 1 to %s bytes, but is %s.', check_name.option, check_name.most_bytes, pg_catalog.to_json(pg_catalog.left(check_name.value, 100)))")}
  end if;
  return check_name.value;
end`,
  },
  {
    name: "interval_ms",
    parameters: [
      ["value", "interval"],
      ["option", "text"],
      ["least_ms", "bigint"],
      ["most_ms", "bigint"],
    ],
    returns: "bigint",
    isPure: true,
    body: `
declare
  ms numeric := pg_catalog.round(extract(epoch from interval_ms.value)::numeric * 1000);
begin
  if ms is null then
    ${refuse("interval_ms.option || ' is missing: it must be an interval.'")}
  end if;
  if ms < interval_ms.least_ms or ms > interval_ms.most_ms then
    ${refuse("pg_catalog.format('%s must be from %s ms to %s ms, but is %s.', interval_ms.option, interval_ms.least_ms, interval_ms.most_ms, interval_ms.value)")}
  end if;
  return ms::bigint;
end`,
  },
  {
    name: "duration_ms",
    parameters: [
      ["value", "jsonb"],
      ["option", "text"],
      ["least_ms", "bigint"],
    ],
    returns: "bigint",
    isPure: true,
    body: `
declare
  given text := duration_ms.value #>> '{}';
  ms numeric;
begin
  if pg_catalog.jsonb_typeof(duration_ms.value) = 'number' then
    ms := given::numeric;
  elsif pg_catalog.jsonb_typeof(duration_ms.value) = 'string' and given ~ '^[0-9]{1,30}(|[.][0-9]{1,30})(ms|s|m|h|d)$' then
    ms := pg_catalog.round(pg_catalog.substring(given, '^[0-9.]+')::numeric * case pg_catalog.substring(given, '[a-z]+$')
      when 'ms' then 1 when 's' then 1000 when 'm' then 60000 when 'h' then 3600000 else 86400000 end, 3);
  end if;
  if ms is null or ms <> pg_catalog.trunc(ms) then
    ${refuse(`pg_catalog.format('%s must be whole milliseconds or a number with a unit ("250ms", "30s", "5m", "1h", "7d"), but is %s.', duration_ms.option, pg_catalog.left(duration_ms.value::text, 100))`)}
  end if;
  if ms < duration_ms.least_ms or ms > ${maxDurationMs} then
    ${refuse(`pg_catalog.format('%s must be from %s ms to ${maxDurationMs} ms, but is %s.', duration_ms.option, duration_ms.least_ms, pg_catalog.left(duration_ms.value::text, 100))`)}
  end if;
  return ms::bigint;
end`,
  },
  {
    name: "whole_number",
    parameters: [
      ["value", "jsonb"],
      ["option", "text"],
      ["lowest", "bigint"],
      ["highest", "bigint"],
    ],
    returns: "bigint",
    isPure: true,
    body: `
declare
  given numeric := case pg_catalog.jsonb_typeof(whole_number.value) when 'number' then (whole_number.value #>> '{}')::numeric end;
begin
  if given is null or given <> pg_catalog.trunc(given) or given < whole_number.lowest or given > whole_number.highest then
    ${refuse("pg_catalog.format('%s must be a whole number from %s to %s, but is %s.', whole_number.option, whole_number.lowest, whole_number.highest, pg_catalog.left(whole_number.value::text, 100))")}
  end if;
  return given::bigint;
end`,
  },
];
