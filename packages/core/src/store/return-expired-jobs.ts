import { sql } from "kysely";
import { appendError } from "./error-history.js";
import { keptPlace } from "./kept-place.js";
import { queryBuilder } from "./query-builder.js";
import { clockTimestamp, transactionTimestamp } from "./sql-time.js";
import { defineStatement, placeholders, type Statement } from "./statement.js";

export interface ReturnExpiredJobsInput {
  readonly limit: number;
  /** Ids that are left alone, as an array literal: what the sweeping process runs itself, and is about to extend. */
  readonly except: string;
  /** Only what was claimed so many milliseconds ago at most; null: all. */
  readonly withinMs: number | null;
}

export interface ExpiredJob {
  readonly id: string;
  readonly kind: string;
  readonly lane: string;
  readonly status: "queued" | "dead";
  readonly attempts: number;
  /** The worker whose lease ran out. */
  readonly worker: string | null;
}

export const leaseExpiredMessage = "The lease ran out: the worker died, was cut off from the database, or blocked its event loop.";

/**
 * The sweep: returns jobs whose lease ran out to their place in the queue, or to the dead letters when no attempt is left, so that
 * a job that kills its process cannot be claimed for ever. Skips locked rows, so sweepers never wait for each other. Reads the
 * index of running jobs, in which all that ran since somebody holds a snapshot is still there: `withinMs` bounds that. Safe to repeat.
 */
export function returnExpiredJobs(schema: string): Statement<ReturnExpiredJobsInput, ExpiredJob> {
  const p = placeholders<ReturnExpiredJobsInput>();
  const failure = sql`pg_catalog.jsonb_build_object('name', 'LeaseExpired', 'message', ${sql.lit(leaseExpiredMessage)})`;
  const hasNoneLeft = sql`j.attempts >= j.max_attempts`;
  const query = queryBuilder(schema)
    .with(
      (cte) => cte("expired").materialized(),
      (db) =>
        db
          .selectFrom("jobs as j")
          .select("j.id")
          .where("j.status", "=", sql.lit("running"))
          // Folded by the planner, which knows the value.
          .where(sql<boolean>`(${p.interval("withinMs")} is null or j.started_at > ${transactionTimestamp} - ${p.interval("withinMs")})`)
          .where("j.locked_until", "<", clockTimestamp)
          .where(sql<boolean>`j.id <> all(${p.bigints("except")})`)
          .limit(p.int("limit"))
          .forNoKeyUpdate()
          .skipLocked(),
    )
    .updateTable("jobs as j")
    .set({
      status: sql<"queued" | "dead">`(case when ${hasNoneLeft} then 'dead' else 'queued' end)::${sql.id(schema, "job_status")}`,
      run_at: sql<Date>`case when ${hasNoneLeft} then ${clockTimestamp} else ${keptPlace} end`,
      locked_until: sql.lit(null),
      last_error: sql.lit(leaseExpiredMessage),
      errors: appendError(failure),
    })
    .where(sql<boolean>`j.id = any(array(select id from expired))`)
    .returning([sql<string>`j.id::text`.as("id"), "j.kind", "j.lane", "j.attempts", "j.worker"])
    .returning(sql<"queued" | "dead">`j.status`.as("status"));
  return defineStatement(query);
}
