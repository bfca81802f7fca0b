import { sql } from "kysely";
import { queryBuilder } from "./query-builder.js";
import { ring } from "./ring.js";
import { clockTimestamp } from "./sql-time.js";
import { defineStatement, placeholders, type Statement } from "./statement.js";

/** Stops claims from a lane, for all workers; what runs goes on. Safe to repeat. */
export function pauseLane(schema: string): Statement<{ readonly lane: string }, { lane: string }> {
  const p = placeholders<{ readonly lane: string }>();
  return defineStatement(
    queryBuilder(schema)
      .insertInto("lanes")
      .values({ lane: p.text("lane"), paused_at: clockTimestamp })
      .onConflict((conflict) =>
        conflict.column("lane").doUpdateSet({ paused_at: sql<Date>`coalesce(lanes.paused_at, excluded.paused_at)` }),
      )
      .returning("lane"),
  );
}

/** Lets workers claim from a lane again, and wakes them. Safe to repeat. */
export function resumeLane(schema: string): Statement<{ readonly lane: string }, { ok: number }> {
  const p = placeholders<{ readonly lane: string }>();
  return defineStatement(
    queryBuilder(schema)
      .with("resumed", (db) => db.deleteFrom("lanes").where("lane", "=", p.text("lane")).returning("lane"))
      .selectFrom("resumed")
      .innerJoin(sql`lateral ${ring(schema, sql`'*'`)}`.as("rung"), (join) => join.onTrue())
      .select(sql<number>`1`.as("ok")),
  );
}
