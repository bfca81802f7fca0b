import { sql } from "kysely";
import { queryBuilder } from "./query-builder.js";
import { clockTimestamp } from "./sql-time.js";
import { defineStatement, placeholders, type Statement } from "./statement.js";

export interface DeleteEndedInput {
  /** At most so many rows of each table. */
  readonly limit: number;
}

export interface DeletedCounts {
  readonly keys: string;
  readonly effects: string;
  readonly archived: string;
}

/**
 * Removes what nothing refers to any more: keys that expired, or whose job has left the table; delivery records of jobs that
 * have left it; rows of the archive's default partition that need not be kept. A bounded batch, rows that others have locked
 * left out; call it again while a count reaches the limit.
 *
 * A key is only deleted while it names the job that the snapshot saw: an enqueue that takes the key over meanwhile has a job
 * that this snapshot cannot see, and that would look gone.
 */
export function deleteEnded(schema: string): Statement<DeleteEndedInput, DeletedCounts> {
  const p = placeholders<DeleteEndedInput>();
  // Not an anti-join, which the planner may answer by a scan of all jobs.
  const gone = (column: string) =>
    sql<boolean>`(select j.id from ${sql.id(schema, "jobs")} j where j.id = ${sql.ref(column)} limit 1) is null`;
  const keys = sql`${sql.id(schema, "job_keys")}`;
  const count = (table: string) => sql<string>`(select pg_catalog.count(*)::text from ${sql.id(table)})`;
  return defineStatement(
    queryBuilder(schema)
      .with(
        (cte) => cte("ended").materialized(),
        () => sql<{ kind: string; key: string; job_id: string }>`(
          (select k.kind, k.key, k.job_id from ${keys} k where k.expires_at < ${clockTimestamp} limit ${p.int("limit")})
          union all
          (select k.kind, k.key, k.job_id from ${keys} k where k.expires_at = 'infinity' and ${gone("k.job_id")} limit ${p.int("limit")}))`,
      )
      .with("keys", (db) =>
        db
          .deleteFrom("job_keys")
          .where(
            sql<boolean>`ctid = any(array(select x.ctid from ended e cross join lateral (
              select k.ctid from ${keys} k where k.kind = e.kind and k.key = e.key and k.job_id = e.job_id for update skip locked) x))`,
          )
          .returning("job_id"),
      )
      .with("effects_gone", (db) =>
        db
          .deleteFrom("effects")
          .where(
            sql<boolean>`ctid = any(array(select e.ctid from ${sql.id(schema, "effects")} e
              where e.job_id > 0 and ${gone("e.job_id")} limit ${p.int("limit")} for update skip locked))`,
          )
          .returning("job_id"),
      )
      .with(
        "archived",
        () =>
          sql<{ id: string }>`(delete from ${sql.id(schema, "jobs_archive_default")} where ctid = any(array(
          select a.ctid from ${sql.id(schema, "jobs_archive_default")} a where a.keep_until < ${clockTimestamp} limit ${p.int("limit")} for update skip locked))
          returning id)`,
      )
      .selectFrom(sql<{ one: number }>`(select 1 as one)`.as("once"))
      .select([count("keys").as("keys"), count("effects_gone").as("effects"), count("archived").as("archived")]),
  );
}
