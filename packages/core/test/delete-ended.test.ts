import { randomBytes } from "node:crypto";
import { createQueue, job } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import type { Kysely } from "kysely";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { kyselyOn } from "./support/kysely-on.js";
import { openSession, untilBlocked } from "./support/session.js";
import { workerOn } from "./support/worker-on.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job<number>({ keep: "1h" }) } });
let db: Kysely<object>;
let worker: ReturnType<typeof workerOn>;

beforeAll(() => {
  db = kyselyOn<object>(database.pool);
  worker = workerOn(db);
});

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.job_keys, queue.jobs_archive, queue.effects");
});

async function keys(): Promise<string[]> {
  const { rows } = await database.pool.query<{ key: string }>("select key from queue.job_keys order by key");
  return rows.map(({ key }) => key);
}

describe("keys", () => {
  test("whose time is over are deleted, held ones are not", async () => {
    await queue.enqueue(db, "a", 1, { key: "over", keyHolds: "1h" });
    await queue.enqueue(db, "a", 1, { key: "held", keyHolds: "1h" });
    await database.pool.query("update queue.job_keys set expires_at = now() - interval '1 second' where key = 'over'");
    expect(await worker.deleteEnded()).toEqual({ keys: "1", effects: "0", archived: "0" });
    expect(await keys()).toEqual(["held"]);
  });

  test("whose job has left the table are deleted; those of a live or a dead job are not", async () => {
    for (const key of ["queued", "cancelled", "done", "dead"]) {
      const { id } = await queue.enqueue(db, "a", 1, { key, keyHolds: key === "done" ? "until-started" : "until-ended" });
      if (key === "cancelled") await queue.admin(db).cancel(id);
      if (key === "done" || key === "dead") {
        const claimed = await worker.claim();
        const mine = claimed.filter((row) => row.id === id);
        if (key === "done") await worker.complete(mine);
        else await worker.requeue({ [id]: { fence: mine[0]?.claims ?? 0, status: "dead", delayMs: 0, attemptsBack: 0 } });
      }
    }
    expect(await worker.deleteEnded()).toMatchObject({ keys: "2" });
    expect(await keys()).toEqual(["dead", "queued"]);
  });

  test("held for a time outlive their job", async () => {
    const { id } = await queue.enqueue(db, "a", 1, { key: "k", keyHolds: "1h" });
    await queue.admin(db).cancel(id);
    expect(await worker.deleteEnded()).toMatchObject({ keys: "0" });
    expect(await queue.enqueue(db, "a", 1, { key: "k", keyHolds: "1h" })).toEqual({ id, inserted: false });
  });

  test("are deleted in batches", async () => {
    await queue.enqueueMany(
      db,
      Array.from({ length: 25 }, (_, n) => ({
        kind: "a",
        payload: n,
        options: { key: `k${n}`, keyHolds: n % 2 === 0 ? "1h" : "until-ended" },
      })),
    );
    await database.pool.query(
      "update queue.job_keys set expires_at = now() - interval '1 second' where expires_at <> 'infinity'; delete from queue.jobs",
    );
    const counts = [];
    for (let round = 0; round < 3; round++) counts.push(Number((await worker.deleteEnded(10))?.keys));
    expect(counts).toEqual([22, 3, 0]);
  });

  test("that an enqueue is taking over are left alone: the new job keeps its key", async () => {
    const { id } = await queue.enqueue(db, "a", 1, { key: "k", keyHolds: "until-ended" });
    await queue.admin(db).cancel(id);
    await using producer = await openSession(database.url);
    await producer.query("begin");
    const second = await queue.enqueue(producer.executor, "a", 1, { key: "k", keyHolds: "until-ended" });
    expect(second.inserted).toBe(true);
    expect(await worker.deleteEnded()).toMatchObject({ keys: "0" });
    await producer.query("commit");
    expect(await worker.deleteEnded()).toMatchObject({ keys: "0" });
    expect(await queue.enqueue(db, "a", 1, { key: "k", keyHolds: "until-ended" })).toEqual({ id: second.id, inserted: false });
  });

  test("that an enqueue takes over after the look: the new job, which that look cannot see, is not taken for gone", async () => {
    const { id } = await queue.enqueue(db, "a", 1, { key: "k", keyHolds: "until-ended" });
    await queue.admin(db).cancel(id);
    await using gate = await openGate();
    await using cleaner = await openSession(database.url, { role: gate.role });
    const cleaning = workerOn(cleaner.executor).deleteEnded();
    // It has its snapshot, and is about to read the key.
    await untilBlocked(database.pool, cleaner);
    const second = await queue.enqueue(db, "a", 1, { key: "k", keyHolds: "until-ended" });
    expect(second.inserted).toBe(true);
    await gate.open();
    await cleaning;
    expect(await queue.enqueue(db, "a", 1, { key: "k", keyHolds: "until-ended" })).toEqual({ id: second.id, inserted: false });
  });

  test("that are being deleted make an enqueue wait, which then inserts", async () => {
    const { id } = await queue.enqueue(db, "a", 1, { key: "k", keyHolds: "until-ended" });
    await queue.admin(db).cancel(id);
    await using cleaner = await openSession(database.url);
    await using producer = await openSession(database.url);
    await cleaner.query("begin");
    expect(await workerOn(cleaner.executor).deleteEnded()).toMatchObject({ keys: "1" });
    const enqueued = queue.enqueue(producer.executor, "a", 1, { key: "k", keyHolds: "until-ended" });
    await untilBlocked(database.pool, producer);
    await cleaner.query("commit");
    const result = await enqueued;
    expect(result.inserted).toBe(true);
    expect(await queue.enqueue(db, "a", 1, { key: "k", keyHolds: "until-ended" })).toEqual({ id: result.id, inserted: false });
  });

  test("never leave a queued job without its key, in 150 rounds of enqueue, cancel and cleaning side by side", async () => {
    let isBusy = true;
    const cleaning = (async () => {
      while (isBusy) await worker.deleteEnded();
    })();
    for (let round = 0; round < 150; round++) {
      const results = await Promise.all([1, 2, 3].map(() => queue.enqueue(db, "a", round, { key: "k", keyHolds: "until-ended" })));
      expect(new Set(results.map(({ id }) => id)).size).toBe(1);
      await queue.admin(db).cancel(results[0]?.id ?? "");
    }
    isBusy = false;
    await cleaning;
  });
});

describe("delivery records and the archive's default partition", () => {
  test("records of jobs that left the table are deleted; of live jobs, and shared ones, are not", async () => {
    const { id } = await queue.enqueue(db, "a", 1);
    await worker.claim();
    const live = { kind: "a", key: "mail", jobId: id, startedBy: id, startedClaims: 1 };
    for (const effect of [live, { ...live, jobId: "999999" }, { ...live, jobId: "0" }]) {
      await worker.run(worker.statements.beginEffect, { ...effect, worker: "w1", takeOver: "" });
    }
    expect(await worker.deleteEnded()).toEqual({ keys: "0", effects: "1", archived: "0" });
    const { rows } = await database.pool.query("select job_id::text from queue.effects order by job_id");
    expect(rows).toEqual([{ job_id: "0" }, { job_id: id }]);
  });

  test("what the default partition need not keep is deleted, in batches", async () => {
    await database.pool.query(
      `insert into queue.jobs_archive (id, run_at, created_at, finished_at, keep_until, claims, attempts, max_attempts, redrives, status, priority, lane, kind, errors)
       select i, now(), now(), now() - interval '30 days', now() + interval '1 hour' * case when i > 5 then 1 else -1 end, 1, 1, 1, 0, 'done', 5, 'default', 'a', '[]'
         from generate_series(1, 8) i`,
    );
    expect(await worker.deleteEnded(3)).toMatchObject({ archived: "3" });
    expect(await worker.deleteEnded(3)).toMatchObject({ archived: "2" });
    const { rows } = await database.pool.query("select count(*)::int as count from queue.jobs_archive_default");
    expect(rows).toEqual([{ count: 3 }]);
  });
});

/** A role that stops before it reads a key, by a policy on the table that waits for a lock, until the gate is opened. */
async function openGate(): Promise<AsyncDisposable & { readonly role: string; open(): Promise<void> }> {
  const role = `gated_${randomBytes(6).toString("hex")}`;
  const keeper = await openSession(database.url);
  await keeper.query("select pg_advisory_lock(4711)");
  await database.pool.query(`
    create function queue.pass_gate() returns boolean language plpgsql as
      $$ begin perform pg_advisory_lock_shared(4711); perform pg_advisory_unlock_shared(4711); return true; end $$;
    create role ${role};
    grant usage on schema queue to ${role};
    grant all on all tables in schema queue to ${role};
    create policy gate on queue.job_keys to ${role} using (queue.pass_gate());
    alter table queue.job_keys enable row level security`);
  return {
    role,
    async open() {
      await keeper.query("select pg_advisory_unlock(4711)");
    },
    async [Symbol.asyncDispose]() {
      await keeper[Symbol.asyncDispose]();
      await database.pool.query(`
        alter table queue.job_keys disable row level security;
        drop policy gate on queue.job_keys;
        drop function queue.pass_gate();
        drop owned by ${role};
        drop role ${role}`);
    },
  };
}
