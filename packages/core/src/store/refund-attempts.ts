import { sql } from "kysely";
import { queryBuilder } from "./query-builder.js";
import { clockTimestamp } from "./sql-time.js";
import { defineStatement, placeholders, type Statement } from "./statement.js";

export interface RefundAttemptsInput {
  /** Array literals of the same length: jobs, and the number of the attempt of each that was never begun. */
  readonly ids: string;
  readonly attempts: string;
  readonly worker: string;
}

/**
 * Gives back attempts that a sweep has spent although their handlers never started: the worker that had claimed them was cut off
 * or frozen, and says so now. Whatever became of the job meanwhile: it may run elsewhere, and when it died for want of attempts
 * it comes back. The entry of the sweep leaves the history with the attempt, so that it is safe to repeat.
 */
export function refundAttempts(schema: string): Statement<RefundAttemptsInput, { id: string }> {
  const p = placeholders<RefundAttemptsInput>();
  const wanted = sql`unnest(${p.bigints("ids")}, ${p.ints("attempts")}) as u(id, attempt)`;
  const entry = sql`pg_catalog.jsonb_build_object('name', 'LeaseExpired', 'worker', ${p.text("worker")}, 'attempt', u.attempt)`;
  const own = sql<string>`(select x.errors from refunded x where x.id = j.id)`;
  const isRevived = sql`j.status::text = 'dead' and j.attempts <= j.max_attempts`;
  return defineStatement(
    queryBuilder(schema)
      .with(
        (cte) => cte("refunded").materialized(),
        () => sql<{ id: string; errors: string }>`(
          select x.id, x.errors from ${wanted} cross join lateral (
            select j.id, (select coalesce(pg_catalog.jsonb_agg(e.value order by e.ordinality) filter (where not e.value @> ${entry}), '[]')
                            from pg_catalog.jsonb_array_elements(j.errors) with ordinality as e) as errors
              from ${sql.id(schema, "jobs")} j
             where j.id = u.id and j.attempts > 0 and j.errors @> pg_catalog.jsonb_build_array(${entry})
             limit 1 for update) x)`,
      )
      .updateTable("jobs as j")
      .set({
        attempts: sql<number>`j.attempts - 1`,
        errors: own,
        status: sql<"queued">`(case when ${isRevived} then 'queued' else j.status::text end)::${sql.id(schema, "job_status")}`,
        run_at: sql<Date>`case when ${isRevived} then ${clockTimestamp} else j.run_at end`,
      })
      .where(sql<boolean>`j.id = any(array(select id from refunded))`)
      .returning(sql<string>`j.id::text`.as("id")),
  );
}
