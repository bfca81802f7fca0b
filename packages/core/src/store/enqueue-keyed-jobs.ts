import { sql } from "kysely";
import { dueAt, enqueueColumns, nextJobId, payloadOrNull } from "./enqueue-jobs.js";
import { isHeld } from "./is-held.js";
import { queryBuilder } from "./query-builder.js";
import { recordset } from "./recordset.js";
import { defineStatement, placeholders, type Statement } from "./statement.js";
import { type KeyRelease, takeFreeKey } from "./take-free-key.js";

export interface EnqueueKeyedJobsInput {
  /** A JSON array, written by `encodeRows`. */
  readonly rows: string;
}

export interface EnqueueKeyedRow {
  readonly id: string;
  readonly inserted: boolean;
  /** The key changed hands while this ran: ask again, with a new snapshot. */
  readonly contested: boolean;
}

/**
 * Inserts jobs of which some have an idempotency key, and gives for each the id of the job that has the key now.
 *
 * Whether a key is held is decided here and nowhere else: claims and settles never touch `job_keys`.
 *
 * - a hold for a duration ends by `expires_at`;
 * - `until-ended` ends when the job is gone from `jobs`, or dead;
 * - `until-started` ends when the job was claimed. The job is locked FOR SHARE, so that a claim skips it until the caller's
 *   transaction has ended: the job that a duplicate was merged into starts after the duplicate's business writes are visible.
 *   That is what makes a debounced "reindex this product" safe.
 *
 * Steps: `held` reads the keys as the snapshot sees them (fifteen times faster on a hot duplicate than updating always);
 * `taken` inserts the others, waits for a rival whose transaction is open, and takes over a key that is no longer held. The
 * take-over is a compare-and-swap on the job id that the snapshot saw (`replaces`): when a rival committed in between, the
 * row names the rival's job, which this snapshot cannot judge, and the caller asks again (`contested`).
 *
 * Rows are inserted in the order of (kind, key), so that two batches never deadlock on their keys. A key twice in a batch is
 * the first's. In REPEATABLE READ a rival that committed after the snapshot raises 40001: the caller's transaction restarts.
 */
export function enqueueKeyedJobs(schema: string): Statement<EnqueueKeyedJobsInput, EnqueueKeyedRow> {
  const p = placeholders<EnqueueKeyedJobsInput>();
  const columns = { ...enqueueColumns, key: "text", hold_ms: "float8", release_on: "text" } as const;
  const query = queryBuilder(schema)
    .with(
      (cte) => cte("input").materialized(),
      (db) =>
        db
          .selectFrom(recordset(p.json("rows"), "i", columns))
          .select(["i.payload", "i.lane", "i.priority", "i.max_attempts", "i.position", "i.hold_ms", "i.release_on"])
          // The collation of the tables, so that the order of the keys is the same everywhere.
          .select([sql<string>`i.kind collate "C"`.as("kind"), sql<string | null>`i.key collate "C"`.as("key")])
          .select([nextJobId(schema).as("id"), dueAt().as("run_at")])
          .orderBy("i.position"),
    )
    .with(
      (cte) => cte("wanted").materialized(),
      (db) =>
        db
          .selectFrom("input")
          .distinctOn(["kind", "key"])
          .select(["id", "kind", "key", "hold_ms", "release_on"])
          .where("key", "is not", null)
          .orderBy("kind")
          .orderBy("key")
          .orderBy("position"),
    )
    .with(
      (cte) => cte("seen").materialized(),
      (db) =>
        db
          .selectFrom("wanted as w")
          .leftJoinLateral(
            (eb) =>
              eb
                .selectFrom("job_keys as k")
                .select((key) => ["k.job_id", isHeld(key).as("is_held")])
                .whereRef("k.kind", "=", "w.kind")
                .whereRef("k.key", "=", "w.key")
                .limit(sql.lit(1))
                .as("h"),
            (join) => join.onTrue(),
          )
          .select(["w.id", "w.kind", "w.key", "w.hold_ms", "w.release_on", "h.job_id", "h.is_held"]),
    )
    .with("taken", (db) =>
      db
        .insertInto("job_keys")
        .columns(["kind", "key", "job_id", "replaces", "expires_at", "release_on"])
        .expression((eb) =>
          eb
            .selectFrom("seen as s")
            .select(["s.kind", "s.key", "s.id", "s.job_id"])
            .select([
              sql<Date>`coalesce(pg_catalog.statement_timestamp() + s.hold_ms * interval '1 millisecond', 'infinity')`.as("expires_at"),
              sql<KeyRelease | null>`s.release_on::${sql.id(schema, "key_release")}`.as("release_on"),
            ])
            .where(sql<boolean>`s.is_held is not true`)
            .orderBy("s.kind")
            .orderBy("s.key"),
        )
        .onConflict(takeFreeKey)
        .returning(["kind", "key", "job_id", "release_on"]),
    )
    .with("resolved", (db) =>
      db
        .selectFrom("seen")
        .select(["kind", "key", "job_id", sql<boolean>`false`.as("is_fresh")])
        .where("is_held", "is", sql.lit(true))
        .unionAll(
          db
            .selectFrom("taken as t")
            .leftJoin("seen as own", "own.id", "t.job_id")
            .select(["t.kind", "t.key", "t.job_id", sql<boolean>`own.id is null`.as("is_fresh")]),
        ),
    )
    .with(
      (cte) => cte("decided").materialized(),
      (db) =>
        db
          .selectFrom("input as i")
          .leftJoin("resolved as r", (join) => join.onRef("r.kind", "=", "i.kind").onRef("r.key", "=", "i.key"))
          .select(["i.id", "i.position", "r.job_id"])
          .select([
            sql<boolean>`r.job_id is null or r.job_id = i.id`.as("inserted"),
            sql<boolean>`coalesce(r.is_fresh, false)`.as("contested"),
          ]),
    )
    .with("added", (db) =>
      db
        .insertInto("jobs")
        .columns(["id", "kind", "payload", "lane", "priority", "max_attempts", "run_at", "idempotency_key", "key_release"])
        .expression((eb) =>
          eb
            .selectFrom("input as i")
            .innerJoin("decided as d", "d.id", "i.id")
            .select(["i.id", "i.kind", payloadOrNull().as("payload"), "i.lane", "i.priority", "i.max_attempts", "i.run_at", "i.key"])
            .select(sql<KeyRelease | null>`i.release_on::${sql.id(schema, "key_release")}`.as("release_on"))
            .where("d.inserted", "is", sql.lit(true))
            .orderBy("i.position"),
        ),
    )
    .selectFrom("decided as d")
    .select([sql<string>`coalesce(d.job_id, d.id)::text`.as("id"), "d.inserted", "d.contested"])
    .orderBy("d.position");
  return defineStatement(query);
}
