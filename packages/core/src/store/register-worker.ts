import { sql } from "kysely";
import { queryBuilder } from "./query-builder.js";
import { clockTimestamp } from "./sql-time.js";
import { defineStatement, placeholders, type Statement } from "./statement.js";

export interface RegisterWorkerInput {
  readonly worker: string;
  /** Array literals; `lanes` null: every lane. */
  readonly kinds: string;
  readonly lanes: string | null;
  readonly host: string;
  readonly pid: number;
  /** How long the entry is believed without another call. */
  readonly expiresInMs: number;
}

/**
 * Says that a worker is alive and which kinds it has handlers for, so that operators see kinds without a worker; and forgets
 * those that have not said so in time, but for those that say so at this moment: workers that are late together would wait for
 * each other in a circle. Nothing else reads it: leases alone decide who may run a job. Safe to repeat.
 */
export function registerWorker(schema: string): Statement<RegisterWorkerInput, { id: string }> {
  const p = placeholders<RegisterWorkerInput>();
  const query = queryBuilder(schema)
    .with(
      (cte) => cte("late").materialized(),
      (db) =>
        db
          .selectFrom("workers as w")
          .select("w.id")
          .where("w.expires_at", "<", clockTimestamp)
          .where("w.id", "<>", p.text("worker"))
          .forUpdate()
          .skipLocked(),
    )
    .with("forgotten", (db) => db.deleteFrom("workers as w").where(sql<boolean>`w.id = any(array(select id from late))`))
    .insertInto("workers")
    .values({
      id: p.text("worker"),
      started_at: clockTimestamp,
      expires_at: sql<Date>`${clockTimestamp} + ${p.interval("expiresInMs")}`,
      kinds: sql<string[]>`${p.texts("kinds")}`,
      lanes: sql<string[] | null>`${p.texts("lanes")}`,
      host: p.text("host"),
      pid: p.int("pid"),
    })
    .onConflict((conflict) => conflict.column("id").doUpdateSet((eb) => ({ expires_at: eb.ref("excluded.expires_at") })))
    .returning("id");
  return defineStatement(query);
}
