import { sql } from "kysely";
import { queryBuilder } from "./query-builder.js";
import { ring } from "./ring.js";
import { defineStatement, type Statement } from "./statement.js";

/** Wakes all workers: jobs were put back that are due at once, and the trigger rings for new ones only. */
export function ringWorkers(schema: string): Statement<object, { ok: number }> {
  return defineStatement(
    queryBuilder(schema)
      .selectFrom(sql`${ring(schema, sql`'*'`)}`.as("rung"))
      .select(sql<number>`1`.as("ok")),
  );
}
