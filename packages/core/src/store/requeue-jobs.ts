import { sql } from "kysely";
import { appendError } from "./error-history.js";
import { type FencedLock, lockFenced } from "./lock-fenced.js";
import { keptPlace } from "./kept-place.js";
import { queryBuilder } from "./query-builder.js";
import { clockTimestamp } from "./sql-time.js";
import { defineStatement, placeholders, type Statement } from "./statement.js";

/** How an attempt that is not done ended. */
export interface Requeue {
  readonly fence: number;
  /** `exhausted`: dead, unless an attempt was given back meanwhile. */
  readonly status: "queued" | "dead" | "exhausted";
  /** Milliseconds until it is due again; undefined: it keeps its place in the line. */
  readonly delayMs: number | undefined;
  /** 1 gives the attempt back (a snooze, a claim that was never started). */
  readonly attemptsBack: 0 | 1;
  /** What failed; absent when nothing did. */
  readonly error?: { readonly name: string; readonly message: string; readonly stack?: string | undefined } | undefined;
}

export interface RequeueJobsInput {
  /** A JSON object: job id → {@link Requeue}. */
  readonly jobs: string;
  readonly worker: string;
}

/**
 * Puts running jobs back into the queue (retry, snooze, release) or to the dead letters. Skips rows that
 * somebody has locked; safe to repeat. What does not come back was locked, or the fence refuses it, as in `completeJobs`.
 * With a delay `run_at` is never before the moment of the write.
 *
 * The values are looked up by id in the JSON object, not joined: a join to the updated table is planned badly as soon as the
 * statistics are stale.
 */
export function requeueJobs(schema: string): Statement<RequeueJobsInput, { id: string }> {
  return requeue(schema, "skips");
}

/** The same inside a handler's transaction: waits for who has the row locked, so that an empty answer is final. */
export function requeueOwnJobs(schema: string): Statement<RequeueJobsInput, { id: string }> {
  return requeue(schema, "waits");
}

function requeue(schema: string, lock: FencedLock): Statement<RequeueJobsInput, { id: string }> {
  const p = placeholders<RequeueJobsInput>();
  const wanted = sql<{ id: string; fence: number }>`(
    select e.key::int8 as id, (e.value->>'fence')::int4 as fence
      from input, pg_catalog.jsonb_each(input.doc) as e order by 1)`;
  const entry = sql`((select doc from input) -> j.id::text)`;
  const query = queryBuilder(schema)
    .with(
      (cte) => cte("input").materialized(),
      (db) => db.selectFrom(sql<{ doc: unknown }>`(select ${p.json("jobs")} as doc)`.as("given")).select("doc"),
    )
    .with(
      (cte) => cte("mine").materialized(),
      () => lockFenced(schema, wanted.as("u"), p.text("worker"), lock).select("x.id"),
    )
    .updateTable("jobs as j")
    .set({
      status: sql<"queued" | "dead">`(case when ${entry}->>'status' <> 'exhausted' then ${entry}->>'status'
        when j.attempts >= j.max_attempts then 'dead' else 'queued' end)::${sql.id(schema, "job_status")}`,
      run_at: sql<Date>`coalesce(${clockTimestamp} + (${entry}->>'delayMs')::float8 * interval '1 millisecond', ${keptPlace})`,
      attempts: sql<number>`j.attempts - (${entry}->>'attemptsBack')::int4`,
      locked_until: sql.lit(null),
      last_error: sql<string>`coalesce(${entry}->'error'->>'message', j.last_error)`,
      errors: sql<string>`case when pg_catalog.jsonb_exists(${entry}, 'error') then ${appendError(sql`(${entry}->'error')`)} else j.errors end`,
    })
    .where(sql<boolean>`j.id = any(array(select id from mine))`)
    .returning(sql<string>`j.id::text`.as("id"));
  return defineStatement(query);
}
