import { sql } from "kysely";
import { archiveColumns } from "./archive-columns.js";
import { type JobRecordRow, jobRecordColumns } from "./job-record-row.js";
import { queryBuilder } from "./query-builder.js";
import { ring } from "./ring.js";
import { clockTimestamp } from "./sql-time.js";
import { defineStatement, placeholders, type Statement } from "./statement.js";

export interface CancelJobInput {
  readonly id: string;
  /** A JSON object: kind → milliseconds to keep a cancelled job in the archive, or null for not at all. */
  readonly keeps: string;
  /** For kinds that are not in `keeps`. */
  readonly defaultKeepMs: number;
}

/**
 * Moves a live job to the archive as cancelled. Locks its row, and waits for a settle or a claim in progress. When it was
 * running, its worker's fence no longer holds: whatever the handler does, its outcome changes nothing; the notification lets
 * the worker abort the handler at once instead of at its next heartbeat. Nothing comes back when the job is not live.
 */
export function cancelJob(schema: string): Statement<CancelJobInput, JobRecordRow> {
  const p = placeholders<CancelJobInput>();
  const keepMs = sql`case when pg_catalog.jsonb_exists(${p.json("keeps")}, g.kind) then (${p.json("keeps")}->>g.kind)::float8
    else ${p.text("defaultKeepMs")}::float8 end`;
  return defineStatement(
    queryBuilder(schema)
      // The moment is read once: what is answered is what is archived.
      .with("gone", (db) =>
        db.deleteFrom("jobs as j").where("j.id", "=", p.bigint("id")).returningAll("j").returning(clockTimestamp.as("finished_at")),
      )
      .with("kept", (db) =>
        db
          .insertInto("jobs_archive")
          .columns(archiveColumns.names)
          .expression((eb) =>
            eb
              .selectFrom("gone as g")
              .select(
                archiveColumns.from(
                  "cancelled",
                  sql<Date>`g.finished_at + (${keepMs}) * interval '1 millisecond'`,
                  sql<Date>`g.finished_at`,
                ),
              )
              .where(sql<boolean>`(${keepMs}) is not null`),
          ),
      )
      .selectFrom("gone as g")
      .innerJoin(sql`lateral ${ring(schema, sql`'cancel ' || g.id::text`)}`.as("rung"), (join) => join.onTrue())
      .select([...jobRecordColumns("g", "g.finished_at", "'cancelled'")]),
  );
}
