import { sql } from "kysely";
import { quoteIdentifier } from "../migrations/quote.js";
import { queryBuilder } from "./query-builder.js";
import { defineStatement, type Statement } from "./statement.js";
import { textLiteral } from "./text-literal.js";

/** Whether the bookkeeping of the migrations is there. Cannot fail for want of a table, so it is safe in any transaction. */
export function findMigrationsTable(schema: string): Statement<object, { found: string | null }> {
  const table = `${quoteIdentifier(schema)}.migrations`;
  return defineStatement(
    queryBuilder(schema)
      .selectFrom(sql<{ found: string | null }>`(select pg_catalog.to_regclass(${textLiteral(table)})::text as found)`.as("look"))
      .select("found"),
  );
}

/** The migrations that were applied. A driver may be told to give booleans as texts, of which each counts as true. */
export function appliedMigrations(schema: string): Statement<object, { name: string; breaks: "yes" | "no" }> {
  return defineStatement(
    queryBuilder(schema)
      .selectFrom("migrations")
      .select(["name", sql<"yes" | "no">`case when breaks_older_workers then 'yes' else 'no' end`.as("breaks")]),
  );
}
