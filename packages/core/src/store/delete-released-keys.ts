import { sql } from "kysely";
import { hasLeft } from "./has-left.js";
import { queryBuilder } from "./query-builder.js";
import { defineStatement, placeholders, type Statement } from "./statement.js";

export interface DeleteReleasedKeysInput {
  /** Where the walk is: the keys after this one, in the order of the primary key. From the beginning: two empty texts. */
  readonly afterKind: string;
  readonly afterKey: string;
  /** How many keys to look at. */
  readonly limit: number;
}

export interface ReleasedKeysWalk {
  readonly deleted: string;
  /** Where to go on; null: that was the last key. */
  readonly kind: string | null;
  readonly key: string | null;
}

/**
 * Removes keys that an event releases and whose job has left the table. A walk, a bounded part at a time: nothing tells of a
 * key that its job is gone, and looking at all of them each time took a second for 200,000. Rows that others have locked are
 * left out.
 *
 * A key is only deleted while it names the job that the snapshot saw: an enqueue that takes the key over meanwhile has a job
 * that this snapshot cannot see, and that would look gone.
 */
export function deleteReleasedKeys(schema: string): Statement<DeleteReleasedKeysInput, ReleasedKeysWalk> {
  const p = placeholders<DeleteReleasedKeysInput>();
  const keys = sql`${sql.id(schema, "job_keys")}`;
  return defineStatement(
    queryBuilder(schema)
      .with(
        (cte) => cte("part").materialized(),
        (db) =>
          db
            .selectFrom("job_keys as k")
            .select(["k.kind", "k.key", "k.job_id", "k.release_on"])
            .where(sql<boolean>`(k.kind, k.key) > (${p.text("afterKind")}, ${p.text("afterKey")})`)
            .orderBy("k.kind")
            .orderBy("k.key")
            .limit(p.int("limit")),
      )
      .with("deleted", (db) =>
        db
          .deleteFrom("job_keys")
          .where(
            sql<boolean>`ctid = any(array(select x.ctid from part e cross join lateral (
              select k.ctid from ${keys} k where k.kind = e.kind and k.key = e.key and k.job_id = e.job_id for update skip locked) x
              where e.release_on is not null and ${hasLeft(schema, "e.job_id")}))`,
          )
          .returning("job_id"),
      )
      .with("last", (db) =>
        db
          .selectFrom("part as e")
          .select(["e.kind", "e.key"])
          .where(sql<boolean>`(select pg_catalog.count(*) from part) >= ${p.int("limit")}`)
          .orderBy("e.kind", "desc")
          .orderBy("e.key", "desc")
          .limit(sql.lit(1)),
      )
      .selectFrom(sql<{ one: number }>`(select 1 as one)`.as("once"))
      .leftJoin("last as l", (join) => join.onTrue())
      .select([sql<string>`(select pg_catalog.count(*)::text from deleted)`.as("deleted"), "l.kind", "l.key"]),
  );
}
