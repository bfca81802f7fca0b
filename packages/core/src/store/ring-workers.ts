import { sql } from "kysely";
import { queryBuilder } from "./query-builder.js";
import { ring } from "./ring.js";
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
