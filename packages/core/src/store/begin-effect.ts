import { sql } from "kysely";
import { queryBuilder } from "./query-builder.js";
import { clockTimestamp } from "./sql-time.js";
import { defineStatement, placeholders, type Statement } from "./statement.js";

export interface EffectKey {
  readonly kind: string;
  readonly key: string;
  /** The job that the effect belongs to; "0": all jobs of the kind share it. */
  readonly jobId: string;
}

export interface BeginEffectInput extends EffectKey {
  /** The attempt that begins it: job and claim. */
  readonly startedBy: string;
  readonly startedClaims: number;
  readonly worker: string;
  /** Take over a record whose attempt did not finish, if it is still this one (`"job/claims"`); "" takes over nothing. */
  readonly takeOver: string;
}

export interface EffectRecord {
  /** This call wrote the record: the effect may run. */
  readonly begun: boolean;
  readonly done: boolean;
  /** The attempt that wrote the record: `"job/claims"`. */
  readonly owner: string;
  /** That attempt still holds its lease. */
  readonly owner_running: boolean;
  /** The job does not belong to the asking attempt any more. */
  readonly fenced: boolean;
}

/**
 * Writes the delivery record of an effect, before the effect, under the primary key: the database refuses the second one. Fenced
 * like every write about a running job: an attempt that was cut off and has lost its job begins nothing, also when the record of
 * the one that did the job is gone with the job. Nothing comes back when a rival wrote it while this ran; ask again. Not inside
 * the caller's transaction: it has to be there when the process dies.
 */
export function beginEffect(schema: string): Statement<BeginEffectInput, EffectRecord> {
  const p = placeholders<BeginEffectInput>();
  const owner = sql<string>`started_by::text || '/' || started_claims::text`;
  const recorded = sql<string>`effects.started_by::text || '/' || effects.started_claims::text`;
  const isMine = sql<boolean>`exists (select from mine)`;
  const query = queryBuilder(schema)
    .with(
      (cte) => cte("mine").materialized(),
      (db) =>
        db
          .selectFrom("jobs as j")
          .select("j.id")
          .where(
            sql<boolean>`j.id = ${p.bigint("startedBy")} and j.status::text = 'running' and j.claims = ${p.int("startedClaims")} and j.worker = ${p.text("worker")}`,
          )
          .forShare(),
    )
    .with("begun", (db) =>
      db
        .insertInto("effects")
        .columns(["kind", "key", "job_id", "started_by", "started_claims"])
        .expression((eb) =>
          eb
            .selectFrom("mine")
            .select([
              p.text("kind").as("kind"),
              p.text("key").as("key"),
              p.bigint("jobId").as("job_id"),
              p.bigint("startedBy").as("started_by"),
              p.int("startedClaims").as("started_claims"),
            ]),
        )
        .onConflict((conflict) =>
          conflict
            .columns(["kind", "key", "job_id"])
            .doUpdateSet((eb) => ({
              started_by: eb.ref("excluded.started_by"),
              started_claims: eb.ref("excluded.started_claims"),
              started_at: clockTimestamp,
            }))
            .where("effects.done_at", "is", null)
            .where(recorded, "=", p.text("takeOver")),
        )
        .returning([
          sql<boolean>`true`.as("begun"),
          sql<boolean>`false`.as("done"),
          owner.as("owner"),
          sql<boolean>`true`.as("owner_running"),
          sql<boolean>`false`.as("fenced"),
        ]),
    )
    .selectFrom("begun")
    .select(["begun", "done", "owner", "owner_running", "fenced"])
    .unionAll((eb) =>
      eb
        .selectFrom("effects as e")
        .select([sql<boolean>`false`.as("begun"), sql<boolean>`e.done_at is not null`.as("done"), owner.as("owner")])
        .select(
          sql<boolean>`exists ${eb
            .selectFrom("jobs as j")
            .select(sql.lit(1).as("one"))
            .where(sql<boolean>`j.id = e.started_by and j.claims = e.started_claims and j.status::text = 'running'`)}`.as("owner_running"),
        )
        .select(sql<boolean>`false`.as("fenced"))
        .where("e.kind", "=", p.text("kind"))
        .where("e.key", "=", p.text("key"))
        .where("e.job_id", "=", p.bigint("jobId"))
        .where(isMine)
        .where((and) => and.not(and.exists(and.selectFrom("begun").select("begun.begun")))),
    )
    .unionAll((eb) =>
      eb
        .selectFrom(sql<{ one: number }>`(select 1 as one)`.as("once"))
        .select([
          sql<boolean>`false`.as("begun"),
          sql<boolean>`false`.as("done"),
          sql<string>`''`.as("owner"),
          sql<boolean>`false`.as("owner_running"),
          sql<boolean>`true`.as("fenced"),
        ])
        .where(sql<boolean>`not ${isMine}`),
    );
  return defineStatement(query);
}
