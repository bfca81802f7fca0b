import { type Selectable, type SelectQueryBuilder, sql } from "kysely";
import { isHeld } from "./is-held.js";
import { queryBuilder } from "./query-builder.js";
import { ringForLines } from "./ring.js";
import { clockTimestamp } from "./sql-time.js";
import { defineStatement, placeholders, type Statement } from "./statement.js";
import type { StoreDatabase } from "./store-database.js";
import { type KeyRelease, takeFreeKey } from "./take-free-key.js";

export interface RedriveJobsInput {
  /** One job; null: all that the filters name. */
  readonly id: string | null;
  readonly kind: string | null;
  readonly lane: string | null;
  /** An ISO instant: only what died after it. */
  readonly deadAfter: string | null;
  /** Only ids above this one. */
  readonly after: string;
  readonly limit: number;
  /** False: only say what would happen. */
  readonly isApplied: boolean;
}

export interface RedrivenRow {
  readonly id: string;
  /** False: its key is held by another job. */
  readonly redriven: boolean;
}

/**
 * Returns dead letters to the queue, due now, with all their attempts and their history. Locks them in the order of their ids
 * and skips locked ones. Safe to repeat.
 *
 * A job whose key another job holds stays dead. One whose key is held until it ends takes the key again, by the same
 * compare-and-swap as `enqueueKeyedJobs`: when a rival has it by then, the job stays dead; and so do all but one of several
 * dead jobs of such a key. A hold for a time is over or still there, and one until the start is over: nothing is taken again.
 */
export function redriveJobs(schema: string): Statement<RedriveJobsInput, RedrivenRow> {
  return redrive(schema, (chosen) => chosen.forUpdate().skipLocked());
}

/** The same for one job that somebody names, which waits for whoever has it locked. */
export function redriveJob(schema: string): Statement<RedriveJobsInput, RedrivenRow> {
  return redrive(schema, (chosen) => chosen.forUpdate());
}

type Chosen = SelectQueryBuilder<StoreDatabase & { j: StoreDatabase["jobs"] }, "j", ChosenJob>;
type ChosenJob = Pick<Selectable<StoreDatabase["jobs"]>, "id" | "kind" | "idempotency_key" | "key_release">;

function redrive(schema: string, lock: (chosen: Chosen) => Chosen): Statement<RedriveJobsInput, RedrivenRow> {
  const p = placeholders<RedriveJobsInput>();
  const isFree = sql<boolean>`(s.job_id = s.id or s.is_held is not true)`;
  return defineStatement(
    queryBuilder(schema)
      .with(
        (cte) => cte("chosen").materialized(),
        (db) =>
          lock(
            db
              .selectFrom("jobs as j")
              .select(["j.id", "j.kind", "j.idempotency_key", "j.key_release"])
              .where("j.status", "=", sql.lit("dead"))
              .where(sql<boolean>`(${p.bigint("id")} is null or j.id = ${p.bigint("id")})`)
              .where(sql<boolean>`(${p.text("kind")} is null or j.kind = ${p.text("kind")})`)
              .where(sql<boolean>`(${p.text("lane")} is null or j.lane = ${p.text("lane")})`)
              .where(sql<boolean>`(${p.text("deadAfter")} is null or j.run_at > ${p.text("deadAfter")}::timestamptz)`)
              .where("j.id", ">", p.bigint("after"))
              .orderBy("j.id")
              .limit(p.int("limit")),
          ),
      )
      .with(
        (cte) => cte("seen").materialized(),
        (db) =>
          db
            .selectFrom("chosen as c")
            .leftJoinLateral(
              (eb) =>
                eb
                  .selectFrom("job_keys as k")
                  .select((key) => ["k.job_id", isHeld(key).as("is_held")])
                  .where(sql<boolean>`k.kind = c.kind and k.key = c.idempotency_key`)
                  .limit(sql.lit(1))
                  .as("h"),
              (join) => join.onTrue(),
            )
            .select(["c.id", "c.kind", "c.idempotency_key", "h.job_id", "h.is_held"])
            .select(sql<boolean>`c.key_release is not distinct from 'ended'`.as("takes_key"))
            .select(
              sql<string>`pg_catalog.row_number() over (
                partition by c.kind, c.idempotency_key, c.key_release order by (h.job_id = c.id) desc nulls last, c.id)`.as("turn"),
            ),
      )
      .with("taken", (db) =>
        db
          .insertInto("job_keys")
          .columns(["kind", "key", "job_id", "replaces", "expires_at", "release_on"])
          .expression((eb) =>
            eb
              .selectFrom("seen as s")
              .select(["s.kind", "s.idempotency_key", "s.id", "s.job_id"])
              .select([
                sql<Date>`timestamptz 'infinity'`.as("expires_at"),
                sql<KeyRelease>`'ended'::${sql.id(schema, "key_release")}`.as("release_on"),
              ])
              .where(sql<boolean>`${p.boolean("isApplied")} and s.takes_key and s.turn = 1 and ${isFree}`)
              .orderBy("s.kind")
              .orderBy("s.idempotency_key"),
          )
          .onConflict(takeFreeKey)
          .returning("job_keys.job_id"),
      )
      .with(
        (cte) => cte("decided").materialized(),
        (db) =>
          db
            .selectFrom("seen as s")
            .leftJoin("taken as t", "t.job_id", "s.id")
            .select("s.id")
            .select(
              sql<boolean>`case
                when not s.takes_key then ${isFree}
                when ${p.boolean("isApplied")} then t.job_id is not null
                else s.turn = 1 and ${isFree}
              end`.as("redriven"),
            ),
      )
      .with("redriven", (db) =>
        db
          .updateTable("jobs as j")
          .set({
            status: sql.lit("queued"),
            run_at: clockTimestamp,
            attempts: sql.lit(0),
            redrives: sql<number>`j.redrives + 1`,
          })
          .where(sql<boolean>`${p.boolean("isApplied")} and j.id = any(array(select d.id from decided d where d.redriven))`)
          .returning(["j.lane", "j.priority", "j.run_at"]),
      )
      .with("rung", () => ringForLines(schema, "redriven"))
      // All of them are rung for: a join would stop at the first.
      .with("bell", (db) => db.selectFrom("rung").select(sql<string>`pg_catalog.count(*)`.as("lines")))
      .selectFrom("decided as d")
      .innerJoin("bell", (join) => join.onTrue())
      .select([sql<string>`d.id::text`.as("id"), "d.redriven"])
      .orderBy("d.id"),
  );
}
