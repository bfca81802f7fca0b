import { sql } from "kysely";
import { isHeld } from "./is-held.js";
import { queryBuilder } from "./query-builder.js";
import { ring } from "./ring.js";
import { clockTimestamp } from "./sql-time.js";
import { defineStatement, placeholders, type Statement } from "./statement.js";

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
 * A job whose key another job holds stays dead; so does, of two dead jobs with one key, all but one. A key that its holder no
 * longer holds is taken over by compare-and-swap, as in `enqueueKeyedJobs`: when a rival got it first, the job stays dead.
 */
export function redriveJobs(schema: string): Statement<RedriveJobsInput, RedrivenRow> {
  const p = placeholders<RedriveJobsInput>();
  return defineStatement(
    queryBuilder(schema)
      .with(
        (cte) => cte("chosen").materialized(),
        (db) =>
          db
            .selectFrom("jobs as j")
            .select(["j.id", "j.kind", "j.idempotency_key"])
            .where("j.status", "=", sql.lit("dead"))
            .where(sql<boolean>`(${p.bigint("id")} is null or j.id = ${p.bigint("id")})`)
            .where(sql<boolean>`(${p.text("kind")} is null or j.kind = ${p.text("kind")})`)
            .where(sql<boolean>`(${p.text("lane")} is null or j.lane = ${p.text("lane")})`)
            .where(sql<boolean>`(${p.text("deadAfter")} is null or j.run_at > ${p.text("deadAfter")}::timestamptz)`)
            .where("j.id", ">", p.bigint("after"))
            .orderBy("j.id")
            .limit(p.int("limit"))
            .forUpdate()
            .skipLocked(),
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
            .select(
              sql<string>`case when c.idempotency_key is null then 1 else pg_catalog.row_number() over (
                partition by c.kind, c.idempotency_key order by (h.job_id = c.id) desc nulls last, c.id) end`.as("turn"),
            ),
      )
      .with("taken", (db) =>
        db
          .updateTable("job_keys as k")
          .from("seen as s")
          .set((eb) => ({ job_id: eb.ref("s.id"), replaces: eb.ref("s.job_id") }))
          .where(sql<boolean>`${p.boolean("isApplied")} and s.turn = 1 and s.job_id <> s.id and not s.is_held`)
          .where(sql<boolean>`k.kind = s.kind and k.key = s.idempotency_key and k.job_id = s.job_id`)
          .returning("k.job_id"),
      )
      .with(
        (cte) => cte("decided").materialized(),
        (db) =>
          db
            .selectFrom("seen as s")
            .leftJoin("taken as t", "t.job_id", "s.id")
            .select("s.id")
            .select(
              sql<boolean>`s.turn = 1 and (s.job_id is null or s.job_id = s.id
                or case when ${p.boolean("isApplied")} then t.job_id is not null else not s.is_held end)`.as("redriven"),
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
          .returning("j.id"),
      )
      .with("rung", (db) =>
        db
          .selectFrom(sql<{ any: string }>`(select id as any from redriven limit 1)`.as("one"))
          .innerJoin(sql`lateral ${ring(schema, sql`'*'`)}`.as("bell"), (join) => join.onTrue())
          .select(sql<number>`1`.as("ok")),
      )
      .selectFrom("decided as d")
      .leftJoin("rung", (join) => join.onTrue())
      .select([sql<string>`d.id::text`.as("id"), "d.redriven"])
      .orderBy("d.id"),
  );
}
