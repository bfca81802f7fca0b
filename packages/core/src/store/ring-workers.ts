import { sql } from "kysely";
import { queryBuilder } from "./query-builder.js";
import { recordset } from "./recordset.js";
import { ring, ringForLines } from "./ring.js";
import { defineStatement, placeholders, type Statement } from "./statement.js";

/**
 * Tells all workers: `*`, look everywhere, because jobs were put back that are due at once and the trigger rings for new ones
 * only; or `ping …`, which the worker that sent it waits for, to see whether it hears anything.
 */
export function ringWorkers(schema: string): Statement<{ readonly message: string }, { ok: number }> {
  const p = placeholders<{ readonly message: string }>();
  return defineStatement(
    queryBuilder(schema)
      .selectFrom(sql`${ring(schema, p.text("message"))}`.as("rung"))
      .select(sql<number>`1`.as("ok")),
  );
}

/** Tells all workers where jobs were put back that are due at once, as the trigger does of new ones. */
export function ringForJobs(
  schema: string,
): Statement<{ /** A JSON array: lane, priority, and `run_at` in microseconds since 1970. */ readonly jobs: string }, { ok: number }> {
  const p = placeholders<{ readonly jobs: string }>();
  const runAt = sql<Date>`timestamptz 'epoch' + b.run_at * interval '1 microsecond'`;
  return defineStatement(
    queryBuilder(schema)
      .with("back", (db) =>
        db
          .selectFrom(recordset(p.json("jobs"), "b", { lane: "text", priority: "int2", run_at: "int8" }))
          .select(["b.lane", "b.priority", runAt.as("run_at")]),
      )
      .with("rung", () => ringForLines(schema, "back"))
      .selectFrom("rung")
      .select("ok"),
  );
}
