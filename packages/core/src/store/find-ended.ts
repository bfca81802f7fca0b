import { sql } from "kysely";
import { queryBuilder } from "./query-builder.js";
import { defineStatement, placeholders, type Statement } from "./statement.js";

export interface EndedRow {
  readonly id: string;
  readonly status: "done" | "cancelled";
  /** The fence of the claim that ended it. */
  readonly claims: number;
  readonly worker: string | null;
}

/**
 * How jobs that have left the table ended. Reads the archive's BRIN index, when it is called as a function: the planner, left alone,
 * reads all of a partition that was not analysed since it grew.
 */
export function findEnded(schema: string): Statement<{ readonly ids: string }, EndedRow> {
  const p = placeholders<{ readonly ids: string }>();
  return defineStatement(
    queryBuilder(schema)
      .selectFrom("jobs_archive as a")
      .select([sql<string>`a.id::text`.as("id"), sql<EndedRow["status"]>`a.status::text`.as("status"), "a.claims", "a.worker"])
      .where(sql<boolean>`a.id = any(${p.bigints("ids")})`),
  );
}
