import { sql } from "kysely";
import { queryBuilder } from "./query-builder.js";
import { clockTimestamp } from "./sql-time.js";
import { defineStatement, placeholders, type Statement } from "./statement.js";

export interface EnqueueJobInput {
  readonly kind: string;
  /** JSON text. */
  readonly payload: string;
  readonly lane: string;
  readonly priority: number;
  readonly maxAttempts: number;
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
  return defineStatement(
    queryBuilder(schema)
      .insertInto("jobs")
      .values({
        kind: p.text("kind"),
        payload: p.json("payload") as never,
        lane: p.text("lane"),
        priority: sql<number>`${p.int("priority")}::int2`,
        max_attempts: p.int("maxAttempts"),
        run_at: dueAt,
      })
      .returning(sql<string>`id::text`.as("id")),
  );
}
