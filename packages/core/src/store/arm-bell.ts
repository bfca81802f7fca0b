import { sql } from "kysely";
import { bellKeys } from "./bell-keys.js";
import { queryBuilder } from "./query-builder.js";
import { defineStatement, placeholders, type Statement } from "./statement.js";

export interface ArmBellInput {
  /** The lanes that enqueues are to ring for, as an array literal; empty: all. */
  readonly lanes: string;
}

export interface ArmedBell {
  /** Transactions before this one may have looked for sleepers before the keys were held; null: somebody was just looking. */
  readonly xid: string | null;
}

/**
 * Takes the bell's keys, shared, for this session, which listens: enqueues ring as long as somebody holds them. It never
 * waits. When `xid` is null, `muteBell` and try again. Else look for jobs until `isBellSettled`, and once more after that.
 */
export function armBell(schema: string): Statement<ArmBellInput, ArmedBell> {
  const p = placeholders<ArmBellInput>();
  const { any, everyLane, lanePrefix } = bellKeys(schema);
  return defineStatement(
    queryBuilder(schema)
      .with(
        (cte) => cte("taken").materialized(),
        () => sql<{ all_of_them: boolean }>`(
          select pg_catalog.bool_and(pg_catalog.pg_try_advisory_lock_shared(pg_catalog.hashtextextended(k.name, 0))) as all_of_them
            from (select ${sql.lit(any)} as name
                  union all select ${sql.lit(everyLane)} where pg_catalog.cardinality(${p.texts("lanes")}) = 0
                  union all select ${sql.lit(lanePrefix)} || lane from pg_catalog.unnest(${p.texts("lanes")}) as lane) k)`,
      )
      .selectFrom("taken")
      // The transaction's id is taken after the keys are: CASE evaluates in this order.
      .select(sql<string | null>`case when taken.all_of_them then pg_catalog.pg_current_xact_id()::text end`.as("xid")),
  );
}

/** Gives all keys of this session back. */
export function muteBell(schema: string): Statement<object, { ok: number }> {
  return defineStatement<object, { ok: number }>(
    queryBuilder(schema)
      .selectFrom(sql`pg_catalog.pg_advisory_unlock_all()`.as("muted"))
      .select(sql<number>`1`.as("ok")),
  );
}

/**
 * Whether all transactions have ended that may have looked before the bell was armed. By the oldest one that runs: the highest
 * id of a snapshot says nothing about those that run already.
 */
export function isBellSettled(schema: string): Statement<{ readonly xid: string }, { settled: number }> {
  const p = placeholders<{ readonly xid: string }>();
  const oldest = sql`pg_catalog.pg_snapshot_xmin(pg_catalog.pg_current_snapshot())`;
  return defineStatement(queryBuilder(schema).selectNoFrom(sql<number>`(${oldest} >= ${p.text("xid")}::xid8)::int4`.as("settled")));
}
