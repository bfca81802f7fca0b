import { sql } from "kysely";
import { archiveColumns } from "./archive-columns.js";
import { lockFenced } from "./lock-fenced.js";
import { queryBuilder } from "./query-builder.js";
import { clockTimestamp } from "./sql-time.js";
import { defineStatement, placeholders, type Statement } from "./statement.js";

export interface CompleteJobsInput {
  /** Array literals of the same length, sorted by id. */
  readonly ids: string;
  readonly fences: string;
  /** Milliseconds to keep each in the archive; NULL: not at all. */
  readonly keeps: string;
  readonly worker: string;
}

/**
 * Moves jobs that are done to the archive. Locks them in the order of their ids; safe to repeat, and a job that the fence
 * refuses (another claimed it meanwhile, it was cancelled) is left alone and does not come back.
 *
 * Moved, not marked: measured on two cores, 34–41 k jobs/s and 767 bytes of WAL a job, against 20–34 k and 816–849 bytes for
 * `status = 'done'` in place; and the live table needs no purge.
 */
export function completeJobs(schema: string): Statement<CompleteJobsInput, { id: string }> {
  const p = placeholders<CompleteJobsInput>();
  const wanted = sql<{
    id: string;
    fence: number;
    keep: string | null;
  }>`unnest(${p.bigints("ids")}, ${p.ints("fences")}, ${p.bigints("keeps")})`;
  const query = queryBuilder(schema)
    .with(
      (cte) => cte("mine").materialized(),
      () =>
        lockFenced(schema, wanted.as<"u">(sql`u(id, fence, keep)`), p.text("worker")).select([
          "x.id",
          sql<string | null>`u.keep`.as("keep"),
        ]),
    )
    .with("gone", (db) =>
      db
        .deleteFrom("jobs as j")
        .where(sql<boolean>`j.id = any(array(select id from mine))`)
        .returningAll(),
    )
    .with("kept", (db) =>
      db
        .insertInto("jobs_archive")
        .columns(archiveColumns.names)
        .expression((eb) =>
          eb
            .selectFrom("gone as g")
            .innerJoin("mine as m", "m.id", "g.id")
            .select(archiveColumns.from("done", sql<Date>`${clockTimestamp} + m.keep * interval '1 millisecond'`))
            .where("m.keep", "is not", null),
        ),
    )
    .selectFrom("gone")
    .select(sql<string>`id::text`.as("id"));
  return defineStatement(query);
}
