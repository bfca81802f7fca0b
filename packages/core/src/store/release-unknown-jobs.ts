import { sql } from "kysely";
import { keptPlace } from "./kept-place.js";
import { queryBuilder } from "./query-builder.js";
import { clockTimestamp } from "./sql-time.js";
import { defineStatement, placeholders, type Statement } from "./statement.js";

export interface ReleaseUnknownJobsInput {
  readonly worker: string;
  /** What the worker knows that it holds, as an array literal. */
  readonly known: string;
  /** Microseconds since 1970: run later than this, by the database's clock, it does nothing; null: whenever it runs. */
  readonly until: string | null;
}

/**
 * Gives back what a claim took whose answer was lost: running jobs of this worker that the worker does not know. Their handlers
 * were never started, so the attempt is given back too, and they keep their place. Only while the worker has no claim on its way: carried out late, when the
 * worker has long given it up and claimed again, it would take away what runs. Skips locked rows; safe to repeat. Reads the index
 * of running jobs.
 */
export function releaseUnknownJobs(schema: string): Statement<ReleaseUnknownJobsInput, { id: string }> {
  const p = placeholders<ReleaseUnknownJobsInput>();
  return defineStatement(
    queryBuilder(schema)
      .with(
        (cte) => cte("unknown").materialized(),
        (db) =>
          db
            .selectFrom("jobs as j")
            .select("j.id")
            .where("j.status", "=", sql.lit("running"))
            .where("j.worker", "=", p.text("worker"))
            .where(sql<boolean>`j.id <> all(${p.bigints("known")})`)
            .where(
              sql<boolean>`(${p.bigint("until")} is null or ${clockTimestamp} <= timestamptz 'epoch' + ${p.bigint("until")} * interval '1 microsecond')`,
            )
            .forNoKeyUpdate()
            .skipLocked(),
      )
      .updateTable("jobs as j")
      .set({
        status: sql.lit("queued"),
        run_at: keptPlace,
        locked_until: sql.lit(null),
        attempts: sql<number>`j.attempts - 1`,
      })
      .where(sql<boolean>`j.id = any(array(select id from unknown))`)
      .returning(sql<string>`j.id::text`.as("id")),
  );
}
