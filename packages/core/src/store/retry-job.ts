import { sql } from "kysely";
import { queryBuilder } from "./query-builder.js";
import { ringForLines } from "./ring.js";
import { clockTimestamp } from "./sql-time.js";
import { defineStatement, placeholders, type Statement } from "./statement.js";

/** Makes a job that waits for its time due now. Locks its row; safe to repeat. Nothing comes back when it is not queued. */
export function retryJob(schema: string): Statement<{ readonly id: string }, { id: string }> {
  const p = placeholders<{ readonly id: string }>();
  return defineStatement(
    queryBuilder(schema)
      .with("due", (db) =>
        db
          .updateTable("jobs as j")
          .set({ run_at: sql<Date>`least(j.run_at, ${clockTimestamp})` })
          .where("j.id", "=", p.bigint("id"))
          .where(sql<boolean>`j.status::text = 'queued'`)
          .returning([sql<string>`j.id::text`.as("id"), "j.lane", "j.priority", "j.run_at"]),
      )
      .with("rung", () => ringForLines(schema, "due"))
      .selectFrom("due")
      .innerJoin("rung", (join) => join.onTrue())
      .select("due.id"),
  );
}
