import { quoteIdentifier } from "../migrations/quote.js";
import { completeOwnJobs } from "../store/complete-jobs.js";
import { requeueOwnJobs } from "../store/requeue-jobs.js";
import { ringWorkers } from "../store/ring-workers.js";
import { checkedMs, checkedName, checkPresent } from "./check-arguments.js";
import { embedStatement } from "./embed-statement.js";
import type { SqlFunction } from "./sql-function.js";

const maxKeepMs = 400 * 86_400_000;
const fenced: SqlFunction["parameters"] = [
  ["worker", "text"],
  ["id", "bigint"],
  ["fence", "integer"],
];

/**
 * How an attempt ends. Each waits for who has the row locked (a heartbeat, a cancel), so that its answer is final: false, or null of `fail`, says
 * that the job is not this claim's any more, and nothing was written.
 */
export function settleFunctions(schema: string): readonly SqlFunction[] {
  return [complete(schema), requeueJob(schema), fail(schema), snooze(schema), release(schema)];
}

function complete(schema: string): SqlFunction {
  const given = { ids: "given_ids", fences: "given_fences", keeps: "given_keeps", worker: "given_worker" };
  return {
    name: "complete",
    parameters: [...fenced, ["keep", "interval", "'7 days'"]],
    returns: "boolean",
    body: `
declare
  given_ids text := array[complete.id]::text;
  given_fences text := array[complete.fence]::text;
  given_keeps text := array[case when complete.keep is null then -1 else ${checkedMs(schema, "complete.keep", "keep", 0, maxKeepMs)} end]::text;
  given_worker text := ${checkedName(schema, "complete.worker", "worker", 200)};
  job record;
begin
  ${checkPresent("complete", "id", "fence")}
  for job in
    ${embedStatement(completeOwnJobs(schema), given)}
  loop
    return true;
  end loop;
  return false;
end`,
  };
}

/** What `fail`, `snooze` and `release` write. */
function requeueJob(schema: string): SqlFunction {
  return {
    name: "requeue_job",
    parameters: [
      ["worker", "text"],
      ["id", "bigint"],
      ["change", "jsonb"],
    ],
    returns: "boolean",
    body: `
declare
  given_jobs text := pg_catalog.jsonb_build_object(requeue_job.id, requeue_job.change)::text;
  given_worker text := ${checkedName(schema, "requeue_job.worker", "worker", 200)};
  job record;
begin
  for job in
    ${embedStatement(requeueOwnJobs(schema), { jobs: "given_jobs", worker: "given_worker" })}
  loop
    return true;
  end loop;
  return false;
end`,
  };
}

/** The row of the claim, while it is its own; who reads it does so to know the number of the attempt. */
function attemptOf(schema: string, name: string): string {
  return `select j.attempts, j.max_attempts into running from ${quoteIdentifier(schema)}.jobs j
   where j.id = ${name}.id and j.status::text = 'running' and j.claims = ${name}.fence and j.worker = ${name}.worker`;
}

function fail(schema: string): SqlFunction {
  const s = quoteIdentifier(schema);
  return {
    name: "fail",
    parameters: [
      ...fenced,
      ["error", "text"],
      ["error_name", "text", "'Error'"],
      ["stack", "text", "null"],
      ["permanent", "boolean", "false"],
      ["retry_after", "interval", "null"],
      ["backoff_base", "interval", "'2 seconds'"],
      ["backoff_cap", "interval", "'5 minutes'"],
    ],
    returns: "text",
    body: `
declare
  base_ms float8 := ${checkedMs(schema, "fail.backoff_base", "backoff_base")};
  cap_ms float8 := ${checkedMs(schema, "fail.backoff_cap", "backoff_cap")};
  delay_ms float8 := case when fail.retry_after is not null then ${checkedMs(schema, "fail.retry_after", "retry_after")} end;
  failure jsonb := pg_catalog.jsonb_build_object(
    'name', pg_catalog.left(coalesce(nullif(fail.error_name, ''), 'Error'), 200),
    'message', pg_catalog.left(coalesce(nullif(fail.error, ''), nullif(fail.error_name, ''), 'Error'), 2048));
  running record;
  outcome text;
begin
  ${checkPresent("fail", "worker", "id", "fence", "permanent")}
  if fail.stack is not null then
    failure := failure || pg_catalog.jsonb_build_object('stack', pg_catalog.left(fail.stack, 3800));
  end if;
  ${attemptOf(schema, "fail")};
  if not found then
    return null;
  end if;
  outcome := case when fail.permanent then 'dead' when running.attempts >= running.max_attempts then 'exhausted' else 'queued' end;
  if outcome <> 'queued' then
    delay_ms := 0;
  elsif delay_ms is null then
    delay_ms := pg_catalog.random() * least(cap_ms, base_ms * pg_catalog.power(2::float8, least(greatest(running.attempts, 1) - 1, 64)));
  end if;
  if not ${s}.requeue_job(fail.worker, fail.id, pg_catalog.jsonb_build_object(
       'fence', fail.fence, 'status', outcome, 'delayMs', delay_ms, 'attemptsBack', 0, 'error', failure)) then
    return null;
  end if;
  return (select j.status::text from ${s}.jobs j where j.id = fail.id);
end`,
  };
}

function snooze(schema: string): SqlFunction {
  return {
    name: "snooze",
    parameters: [...fenced, ["delay", "interval"]],
    returns: "boolean",
    body: `
begin
  ${checkPresent("snooze", "id", "fence")}
  return ${quoteIdentifier(schema)}.requeue_job(snooze.worker, snooze.id, pg_catalog.jsonb_build_object(
    'fence', snooze.fence, 'status', 'queued', 'delayMs', ${checkedMs(schema, "snooze.delay", "delay")}, 'attemptsBack', 1));
end`,
  };
}

/** The last attempt is given back even when it was begun: a deploy is no reason for a job to die. */
function release(schema: string): SqlFunction {
  const s = quoteIdentifier(schema);
  return {
    name: "release",
    parameters: [...fenced, ["started", "boolean", "true"]],
    returns: "boolean",
    body: `
declare
  given_message text := '*';
  running record;
  bell record;
begin
  ${checkPresent("release", "worker", "id", "fence", "started")}
  ${attemptOf(schema, "release")};
  if not found or not ${s}.requeue_job(release.worker, release.id, pg_catalog.jsonb_build_object('fence', release.fence, 'status', 'queued',
       'attemptsBack', case when release.started and running.attempts < running.max_attempts then 0 else 1 end)) then
    return false;
  end if;
  for bell in ${embedStatement(ringWorkers(schema), { message: "given_message" })} loop
    null;
  end loop;
  return true;
end`,
  };
}
