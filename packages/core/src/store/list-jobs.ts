import { sql } from "kysely";
import { type JobRecordRow, jobRecordColumns } from "./job-record-row.js";
import { queryBuilder } from "./query-builder.js";
import { defineStatement, placeholders, type Statement } from "./statement.js";

export interface ListJobsInput {
  /** Null: any. */
  readonly status: string | null;
  readonly kind: string | null;
  readonly lane: string | null;
  /** Only ids below this one; null: from the newest. */
  readonly before: string | null;
  readonly limit: number;
}

/**
 * Jobs, live and archived, newest first, by keyset: a page is what comes after an id, so that nothing is shown twice or left
 * out while jobs come and go. Reads only.
 */
export function listJobs(schema: string): Statement<ListJobsInput, JobRecordRow> {
  const p = placeholders<ListJobsInput>();
  return defineStatement(
    queryBuilder(schema)
      .selectFrom("all_jobs as a")
      .select([...jobRecordColumns("a")])
      .where(sql<boolean>`(${p.text("status")} is null or a.status::text = ${p.text("status")})`)
      .where(sql<boolean>`(${p.text("kind")} is null or a.kind = ${p.text("kind")})`)
      .where(sql<boolean>`(${p.text("lane")} is null or a.lane = ${p.text("lane")})`)
      .where(sql<boolean>`(${p.bigint("before")} is null or a.id < ${p.bigint("before")})`)
      .orderBy(sql`a.id`, "desc")
      .limit(p.int("limit")),
  );
}

/** The same for dead letters, what an operator asks for most: from their own index, without a look at the archive. */
export function listDeadJobs(schema: string): Statement<Omit<ListJobsInput, "status">, JobRecordRow> {
  const p = placeholders<Omit<ListJobsInput, "status">>();
  return defineStatement(
    queryBuilder(schema)
      .selectFrom("jobs as a")
      .select([...jobRecordColumns("a", "a.run_at")])
      .where("a.status", "=", sql.lit("dead"))
      .where(sql<boolean>`(${p.text("kind")} is null or a.kind = ${p.text("kind")})`)
      .where(sql<boolean>`(${p.text("lane")} is null or a.lane = ${p.text("lane")})`)
      .where(sql<boolean>`(${p.bigint("before")} is null or a.id < ${p.bigint("before")})`)
      .orderBy("a.id", "desc")
      .limit(p.int("limit")),
  );
}
