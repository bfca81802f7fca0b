import { type InsertObject, sql } from "kysely";
import { queryBuilder } from "./query-builder.js";
import { clockTimestamp } from "./sql-time.js";
import { defineStatement, type Placeholders, placeholders, type Statement } from "./statement.js";
import type { StoreDatabase } from "./store-database.js";

export interface EnqueueDueJobInput {
  readonly kind: string;
  /** JSON text. */
  readonly payload: string;
  readonly lane: string;
  readonly priority: number;
  readonly maxAttempts: number;
}

export interface EnqueueJobInput extends EnqueueDueJobInput {
  readonly delayMs: number | null;
  /** An ISO instant; null: after the delay. */
  readonly runAt: string | null;
}

/**
 * Inserts one job that has no key, as `enqueueJobs` does many. Statements have no name, so each is parsed and planned anew, and
 * of one job that is most of the work: a plain INSERT carries half as many transactions again.
 */
export function enqueueJob(schema: string): Statement<EnqueueJobInput, { id: string }> {
  const p = placeholders<EnqueueJobInput>();
  const dueAt = sql<Date>`greatest(${clockTimestamp}, coalesce(${p.text("runAt")}::timestamptz, ${clockTimestamp} + ${p.interval("delayMs")}))`;
  return defineStatement(insertJob(schema, { ...values(p), run_at: dueAt }));
}

/** `enqueueJob` of a job that is due now, which is a sixth less work: the column's default says the same as the expression. */
export function enqueueDueJob(schema: string): Statement<EnqueueDueJobInput, { id: string }> {
  return defineStatement(insertJob(schema, values(placeholders<EnqueueDueJobInput>())));
}

function insertJob(schema: string, job: InsertObject<StoreDatabase, "jobs">) {
  return queryBuilder(schema)
    .insertInto("jobs")
    .values(job)
    .returning(sql<string>`id::text`.as("id"));
}

function values(p: Placeholders<EnqueueDueJobInput>) {
  return {
    kind: p.text("kind"),
    payload: p.json("payload") as never,
    lane: p.text("lane"),
    priority: sql<number>`${p.int("priority")}::int2`,
    max_attempts: p.int("maxAttempts"),
  };
}
