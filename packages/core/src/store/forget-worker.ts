import { queryBuilder } from "./query-builder.js";
import { defineStatement, placeholders, type Statement } from "./statement.js";

/** Takes a worker that stops from the list. Safe to repeat. */
export function forgetWorker(schema: string): Statement<{ readonly worker: string }, { id: string }> {
  const p = placeholders<{ readonly worker: string }>();
  return defineStatement(queryBuilder(schema).deleteFrom("workers").where("id", "=", p.text("worker")).returning("id"));
}
