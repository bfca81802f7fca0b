import { sql } from "kysely";
import { queryBuilder } from "./query-builder.js";
import { defineStatement, type Statement } from "./statement.js";

/**
 * Makes the archive's partitions for the week ahead and drops those that nothing is kept in any longer, by the schema's own
 * function, which has its owner's rights. Waits 200 ms for a lock at most, then fails with 55P03; safe to repeat.
 */
export function maintainArchive(schema: string): Statement<object, { changes: number }> {
  return defineStatement(
    queryBuilder(schema)
      .selectFrom(sql<{ changes: number }>`${sql.id(schema, "maintain_archive")}()`.as<"m">(sql`m(changes)`))
      .select("m.changes"),
  );
}
