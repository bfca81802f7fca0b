import { sql } from "kysely";
import { quoteIdentifier } from "../migrations/quote.js";
import { queryBuilder } from "./query-builder.js";
import { defineStatement, placeholders, type Statement } from "./statement.js";
import { textLiteral } from "./text-literal.js";

export interface FindFunctionsInput {
  /** As an array literal. */
  readonly names: string;
}

/**
 * Which of these functions are in the schema, name its tables, and may be called by who asks: those of a schema that was renamed name
 * the tables that are there no more. Reads the catalogue only.
 */
export function findFunctions(schema: string): Statement<FindFunctionsInput, { name: string }> {
  const p = placeholders<FindFunctionsInput>();
  const names = (beginning: string) => sql`pg_catalog.strpos(p.prosrc, ${textLiteral(`${quoteIdentifier(schema)}."${beginning}`)}) > 0`;
  return defineStatement(
    queryBuilder(schema)
      .selectFrom(
        sql<{ name: string }>`(
          select p.proname::text as name from pg_catalog.pg_proc p
           where p.pronamespace = pg_catalog.to_regnamespace(${textLiteral(quoteIdentifier(schema))})
             and p.proname = any(${p.texts("names")}) and (${names("job")} or ${names("effects")})
             and pg_catalog.has_function_privilege(p.oid, 'execute'))`.as("found"),
      )
      .select("name"),
  );
}
