import { sql } from "kysely";
import { queryBuilder } from "./query-builder.js";
import { defineStatement, placeholders, type Statement } from "./statement.js";

export interface ExpiredAttempt {
  readonly id: string;
  readonly attempt: number;
}

/**
 * The attempts of a worker that a sweep has spent, as far as their jobs are still there: what it asks after it was cut off, to find
 * those that it never knew of, because the answer to its claim was lost. Reads only, and the whole of `jobs`: once for each such
 * incident.
 */
export function findExpiredAttempts(schema: string): Statement<{ readonly worker: string }, ExpiredAttempt> {
  const p = placeholders<{ readonly worker: string }>();
  const entry = sql`pg_catalog.jsonb_build_object('name', 'LeaseExpired', 'worker', ${p.text("worker")})`;
  return defineStatement(
    queryBuilder(schema)
      .selectFrom("jobs as j")
      .innerJoin(sql<{ value: unknown }>`lateral pg_catalog.jsonb_array_elements(j.errors)`.as("e"), (join) => join.onTrue())
      .select([sql<string>`j.id::text`.as("id"), sql<number>`(e.value->>'attempt')::int4`.as("attempt")])
      .where(sql<boolean>`j.errors <> '[]' and j.errors @> pg_catalog.jsonb_build_array(${entry})`)
      .where(sql<boolean>`e.value @> ${entry}`),
  );
}
