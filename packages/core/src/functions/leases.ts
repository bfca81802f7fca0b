import { extendLeases } from "../store/extend-leases.js";
import { returnExpiredJobs } from "../store/return-expired-jobs.js";
import { ringWorkers } from "../store/ring-workers.js";
import { checkedMs, checkedName, refuse } from "./check-arguments.js";
import { embedStatement } from "./embed-statement.js";
import type { SqlFunction } from "./sql-function.js";

/** One statement; more would hold locks for long. */
const largestSweep = 1_000;

/** `heartbeat`, and `sweep` for those that do not come. */
export function leaseFunctions(schema: string): readonly SqlFunction[] {
  return [heartbeat(schema), sweep(schema)];
}

/** `held`: the job is still this claim's. Held and not extended: its row is locked, because it is being written. */
function heartbeat(schema: string): SqlFunction {
  const given = { ids: "given_ids", fences: "given_fences", worker: "given_worker", leaseMs: "given_lease_ms" };
  return {
    name: "heartbeat",
    parameters: [
      ["worker", "text"],
      ["ids", "bigint[]"],
      ["fences", "integer[]"],
      ["lease", "interval", "'30 seconds'"],
    ],
    returns: "table (id bigint, extended boolean, held boolean)",
    body: `
declare
  given_ids text := heartbeat.ids::text;
  given_fences text := heartbeat.fences::text;
  given_worker text := ${checkedName(schema, "heartbeat.worker", "worker", 200)};
  given_lease_ms bigint := ${checkedMs(schema, "heartbeat.lease", "lease", 100, 86_400_000)};
  job record;
begin
  if pg_catalog.cardinality(heartbeat.ids) is distinct from pg_catalog.cardinality(heartbeat.fences) or heartbeat.ids is null then
    ${refuse("'heartbeat: ids and fences must be arrays of the same length, a fence for each id.'")}
  end if;
  for job in
    ${embedStatement(extendLeases(schema), given)}
  loop
    id := job.id::bigint;
    extended := job.extended;
    held := job.held;
    return next;
  end loop;
end`,
  };
}

/** Rings for what it returns: the trigger rings for new jobs only. */
function sweep(schema: string): SqlFunction {
  return {
    name: "sweep",
    parameters: [
      ["max_jobs", "integer", "100"],
      ["except_ids", "bigint[]", "'{}'"],
    ],
    returns: "table (id bigint, kind text, lane text, status text, attempt integer, worker text)",
    body: `
declare
  given_limit integer := sweep.max_jobs;
  given_except text := coalesce(sweep.except_ids, '{}')::text;
  given_within_ms text := null;
  given_message text := '*';
  is_returned boolean := false;
  job record;
begin
  if given_limit is null or given_limit not between 1 and ${largestSweep} then
    ${refuse(`'sweep: max_jobs must be a whole number from 1 to ${largestSweep}, but is ' || coalesce(given_limit::text, 'null') || '.'`)}
  end if;
  for job in
    ${embedStatement(returnExpiredJobs(schema), { limit: "given_limit", except: "given_except", withinMs: "given_within_ms" })}
  loop
    id := job.id::bigint;
    kind := job.kind;
    lane := job.lane;
    status := job.status::text;
    attempt := job.attempts;
    worker := job.worker;
    is_returned := is_returned or job.status::text = 'queued';
    return next;
  end loop;
  if is_returned then
    for job in ${embedStatement(ringWorkers(schema), { message: "given_message" })} loop
      null;
    end loop;
  end if;
end`,
  };
}
