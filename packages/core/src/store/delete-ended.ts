import { sql } from "kysely";
import { hasLeft } from "./has-left.js";
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
 * Removes what nothing refers to any more: keys whose time is over; delivery records of jobs that have left the table; rows of
 * the archive's default partition that need not be kept. A bounded batch, rows that others have locked left out; call it again
 * while it removes anything. For the keys that an event releases see `deleteReleasedKeys`.
 */
export function deleteEnded(schema: string): Statement<DeleteEndedInput, DeletedCounts> {
  const p = placeholders<DeleteEndedInput>();
  const count = (table: string) => sql<string>`(select pg_catalog.count(*)::text from ${sql.id(table)})`;
  return defineStatement(
    queryBuilder(schema)
      .with("keys", (db) =>
        db
          .deleteFrom("job_keys")
          .where(
            sql<boolean>`ctid = any(array(select k.ctid from ${sql.id(schema, "job_keys")} k
              where k.expires_at < ${clockTimestamp} limit ${p.int("limit")} for update skip locked))`,
          )
          .returning("job_id"),
      )
      .with("effects_gone", (db) =>
        db
          .deleteFrom("effects")
          .where(
            sql<boolean>`ctid = any(array(select e.ctid from ${sql.id(schema, "effects")} e
              where e.job_id > 0 and ${hasLeft(schema, "e.job_id")} limit ${p.int("limit")} for update skip locked))`,
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
