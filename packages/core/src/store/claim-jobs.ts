import { type RawBuilder, sql } from "kysely";
import { isOfKinds } from "./of-kinds.js";
import { queryBuilder } from "./query-builder.js";
import { recordset } from "./recordset.js";
import { clockTimestamp, toMicros, transactionTimestamp } from "./sql-time.js";
import { defineStatement, type Placeholders, placeholders, type Statement } from "./statement.js";

/** Where to look: one line per lane and priority. */
export interface ClaimLine {
  readonly lane: string;
  readonly priority: number;
  /** The claim cursor, in microseconds since 1970: jobs due before it are not looked at. `null`: from the beginning. */
  readonly since: string | null;
  /** The id that the cursor stands at, among jobs that are due at the same microsecond. */
  readonly since_id: string;
}

/** Lines that share a ceiling: at most `take` jobs come from all of them together. */
export interface ClaimGroup {
  readonly take: number;
  /** In the order in which they are served. */
  readonly lines: readonly ClaimLine[];
}

export interface ClaimJobsInput {
  /** A JSON array of {@link ClaimGroup}. */
  readonly groups: string;
  /** The kinds that the worker has handlers for, as an array literal. */
  readonly kinds: string;
  readonly limit: number;
  readonly worker: string;
  readonly leaseMs: number;
}

export interface ClaimedRow {
  readonly id: string;
  readonly kind: string;
  readonly lane: string;
  readonly priority: number;
  readonly payload: string;
  readonly attempts: number;
  readonly max_attempts: number;
  readonly claims: number;
  readonly idempotency_key: string | null;
  readonly created_at: string;
  readonly run_at: string;
}

type Nullable<TRow> = { readonly [C in keyof TRow]: TRow[C] | null };

/** What a claim returns: one row that says when it looked, in which the columns of a job are null, and one for each job. */
export interface ClaimAnswerRow extends Nullable<ClaimedRow> {
  /** What was due by then was looked at: microseconds since 1970. Only in the first kind of row. */
  readonly now: string | null;
  /** The lanes that are paused, from which nothing was taken, as a JSON array; null: none. */
  readonly paused: string | null;
  /** The ids of the jobs that were completed by the same statement, joined by commas. */
  readonly completed: string | null;
}

/**
 * Takes due jobs for a worker: status, lease, attempt and fence change in one statement, which commits before any handler
 * runs. Rows that others have locked are skipped, so claimers never wait for each other; each line is read in the order of
 * the claim index (lane, priority, run_at, id), and stops at the limit. Not safe to repeat blindly: a claim whose answer was
 * lost holds its jobs until the lease ends.
 */
export function claimJobs(schema: string): Statement<ClaimJobsInput, ClaimAnswerRow> {
  const p = placeholders<ClaimJobsInput>();
  return defineStatement(
    queryBuilder(schema)
      .with(
        (cte) => cte("candidates").materialized(),
        () => candidates(schema, p),
      )
      .with("claimed", () => claim(schema, p))
      .selectFrom(claimAnswer(schema, sql`null::text`))
      .selectAll(),
  );
}

/**
 * The due jobs that a claim takes, locked.
 *
 * What must stay as it is, each measured and held by a test:
 * - the filter on kinds is hidden from the planner's estimate ({@link isOfKinds}), which would leave the index.
 * - pauses are filtered by an array: as an anti-join they may be hashed, and the lines lose their order.
 * - no outer ORDER BY: it would lock all lines before it takes the first. The caller sorts.
 * - `status` is a literal: the claim index is partial.
 */
export function candidates(schema: string, p: Placeholders<ClaimJobsInput>) {
  return queryBuilder(schema)
    .selectFrom(recordset(p.json("groups"), "g", { take: "int4", lines: "jsonb" }))
    .crossJoinLateral((group) =>
      group
        .selectFrom(recordset(sql`g.lines`, "l", { lane: "text", priority: "int2", since: "int8", since_id: "int8" }))
        .crossJoinLateral((line) =>
          line
            .selectFrom("jobs as j")
            .select("j.id")
            .where("j.status", "=", sql.lit("queued"))
            .whereRef("j.lane", "=", "l.lane")
            .whereRef("j.priority", "=", "l.priority")
            .where(
              sql<boolean>`(j.run_at, j.id) >= (coalesce(timestamptz 'epoch' + l.since * interval '1 microsecond', '-infinity'), l.since_id)`,
            )
            .where("j.run_at", "<=", transactionTimestamp)
            .where(isOfKinds(p.texts("kinds")))
            .orderBy("j.run_at")
            .orderBy("j.id")
            .limit(sql<number>`g.take`)
            .forNoKeyUpdate()
            .skipLocked()
            .as("c"),
        )
        .select("c.id")
        .where(isNotPaused(schema))
        .limit(sql<number>`g.take`)
        .as("x"),
    )
    .select("x.id")
    .limit(p.int("limit"));
}

/**
 * `= any(array(select …))` must stay: joined to the update, the same candidates took 3.5 s a hundred jobs with a stale plan
 * instead of 1 ms; `in (select … limit n)` takes more than n rows under some plans.
 */
export function claim(schema: string, p: Placeholders<ClaimJobsInput>) {
  return queryBuilder(schema)
    .updateTable("jobs as j")
    .set({
      status: sql.lit("running"),
      locked_until: sql<Date>`${clockTimestamp} + ${p.interval("leaseMs")}`,
      started_at: clockTimestamp,
      attempts: sql<number>`least(j.attempts, 999999999) + 1`,
      claims: sql<number>`least(j.claims, 999999999) + 1`,
      worker: p.text("worker"),
    })
    .where(sql<boolean>`j.id = any(array(select id from candidates))`)
    .returning(["j.kind", "j.lane", "j.priority", "j.attempts", "j.max_attempts", "j.claims", "j.idempotency_key"])
    .returning((eb) => [
      sql<string>`j.id::text`.as("id"),
      sql<string>`j.payload::text`.as("payload"),
      toMicros(eb.ref("j.created_at")).as("created_at"),
      toMicros(eb.ref("j.run_at")).as("run_at"),
    ]);
}

const columns = [
  "id",
  "kind",
  "lane",
  "priority",
  "payload",
  "attempts",
  "max_attempts",
  "claims",
  "idempotency_key",
  "created_at",
  "run_at",
] as const;

/** The rows of `claimed`, after the one that says when it looked. */
export function claimAnswer(schema: string, completed: RawBuilder<string | null>) {
  const nulls = sql.join(columns.map((column) => sql`null as ${sql.ref(column)}`));
  const list = sql.join(columns.map((column) => sql.ref(column)));
  const paused = sql`(select pg_catalog.json_agg(p.lane)::text from ${pausedLanes(schema)} p)`;
  return sql<ClaimAnswerRow>`(
    select ${nulls}, ${toMicros(transactionTimestamp)} as now, ${paused} as paused, ${completed} as completed
    union all
    select ${list}, null, null, null from claimed)`.as("answer");
}

/** The paused lanes are read once a claim: looked up line by line, the planner's estimate comes near the cost that starts JIT. */
function isNotPaused(schema: string) {
  return sql<boolean>`l.lane <> all(array${pausedLanes(schema)})`;
}

function pausedLanes(schema: string) {
  return queryBuilder(schema).selectFrom("lanes as p").select("p.lane").where("p.paused_at", "is not", null);
}
