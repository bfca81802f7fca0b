import { sql } from "kysely";
import { quoteIdentifier } from "../migrations/quote.js";
import { queryBuilder } from "./query-builder.js";
import { recordset } from "./recordset.js";
import { clockTimestamp } from "./sql-time.js";
import { defineStatement, placeholders, type Statement } from "./statement.js";
import { textLiteral } from "./text-literal.js";

export interface EnqueueJobsInput {
  /** A JSON array of {@link EnqueueRow}, written by `encodeRows`. */
  readonly rows: string;
}

/** The columns of a job as `rows` carries them. */
export const enqueueColumns = {
  position: "int4",
  kind: "text",
  payload: "jsonb",
  lane: "text",
  priority: "int2",
  max_attempts: "int4",
  delay_ms: "float8",
  run_at: "timestamptz",
} as const;

/**
 * Inserts jobs that have no key. Locks nothing that exists. Not safe to repeat: each run inserts.
 *
 * `run_at` is never before the moment of the insert, so that whoever has looked up to a moment need not look below it again
 * for anything but late commits. The ids are drawn in the order of the input, and come back in it.
 */
export function enqueueJobs(schema: string): Statement<EnqueueJobsInput, { id: string }> {
  const p = placeholders<EnqueueJobsInput>();
  const query = queryBuilder(schema)
    .with(
      (cte) => cte("input").materialized(),
      (db) =>
        db
          .selectFrom(recordset(p.json("rows"), "i", enqueueColumns))
          .select([nextJobId(schema).as("id"), "i.kind", "i.payload", "i.lane", "i.priority", "i.max_attempts", "i.position"])
          .select(dueAt().as("run_at"))
          .orderBy("i.position"),
    )
    .with("added", (db) =>
      db
        .insertInto("jobs")
        .columns(["id", "kind", "payload", "lane", "priority", "max_attempts", "run_at"])
        .expression((eb) =>
          eb
            .selectFrom("input")
            .select(["id", "kind", payloadOrNull().as("payload"), "lane", "priority", "max_attempts", "run_at"])
            .orderBy("position"),
        ),
    )
    .selectFrom("input")
    .select(sql<string>`id::text`.as("id"))
    .orderBy("position");
  return defineStatement(query);
}

export function nextJobId(schema: string) {
  return sql<string>`pg_catalog.nextval(${textLiteral(`${quoteIdentifier(schema)}.jobs_id_seq`)}::regclass)`;
}

/** When the job of row `i` is due. */
export function dueAt() {
  return sql<Date>`greatest(${clockTimestamp}, coalesce(i.run_at, ${clockTimestamp} + i.delay_ms * interval '1 millisecond'))`;
}

/** The JSON value `null` of a row is SQL null by now. */
export function payloadOrNull() {
  return sql<string>`coalesce(payload, 'null'::jsonb)`;
}
