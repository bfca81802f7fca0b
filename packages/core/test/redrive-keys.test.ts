import { createQueue, type EnqueueOptions, job } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import { beforeEach, describe, expect, test } from "vitest";
import { kyselyOn } from "./support/kysely-on.js";
import { openSession, untilBlocked } from "./support/session.js";
import { rejectionOf } from "./support/thrown-by.js";
import { workerOn } from "./support/worker-on.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job<number>() } });
const untilEnded: EnqueueOptions = { key: "k", keyHolds: "until-ended" };

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.job_keys, queue.jobs_archive");
});

async function enqueueAndKill(options: EnqueueOptions): Promise<string> {
  const db = kyselyOn(database.pool);
  const { id } = await queue.enqueue(db, "a", 1, options);
  const worker = workerOn(db);
  for (const { id: claimed, claims } of await worker.claim()) {
    await worker.requeue({ [claimed]: { fence: claims, status: "dead", delayMs: 0, attemptsBack: 0 } });
  }
  return id;
}

async function statuses(): Promise<Record<string, string>> {
  const { rows } = await database.pool.query<{ id: string; status: string }>(
    "select id::text, status from queue.jobs order by queue.jobs.id",
  );
  return Object.fromEntries(rows.map(({ id, status }) => [id, status]));
}

describe("a dead letter whose key another job holds", () => {
  test("stays dead, and is named; retry says KEY_HELD", async () => {
    const admin = queue.admin(kyselyOn(database.pool));
    const dead = await enqueueAndKill(untilEnded);
    const holder = await queue.enqueue(kyselyOn(database.pool), "a", 2, untilEnded);
    expect(await admin.redrive({ all: true })).toEqual({ count: 0, dryRun: false, conflicts: [dead] });
    expect(await rejectionOf(admin.retry(dead))).toMatchObject({ code: "KEY_HELD", jobId: dead, key: "k" });
    expect(await statuses()).toEqual({ [dead]: "dead", [holder.id]: "queued" });
  });

  test("is redriven when the other one has ended, and holds its key again", async () => {
    const db = kyselyOn(database.pool);
    const dead = await enqueueAndKill(untilEnded);
    const holder = await queue.enqueue(db, "a", 2, untilEnded);
    await queue.admin(db).cancel(holder.id);
    expect(await queue.admin(db).retry(dead)).toMatchObject({ status: "queued", attempts: 0, redrives: 1 });
    expect(await queue.enqueue(db, "a", 3, untilEnded)).toEqual({ id: dead, inserted: false });
  });

  test("is redriven when it holds its key itself, which stays held", async () => {
    const db = kyselyOn(database.pool);
    for (const keyHolds of ["until-ended", "30d"] as const) {
      const dead = await enqueueAndKill({ key: keyHolds, keyHolds });
      expect(await queue.admin(db).retry(dead)).toMatchObject({ status: "queued" });
      expect(await queue.enqueue(db, "a", 3, { key: keyHolds, keyHolds })).toEqual({ id: dead, inserted: false });
    }
  });
});

describe("a dead letter whose key another job took and released", () => {
  test("holds it again when it comes back, though the key was removed meanwhile", async () => {
    const db = kyselyOn(database.pool);
    const dead = await enqueueAndKill(untilEnded);
    const other = await queue.enqueue(db, "a", 2, untilEnded);
    await queue.admin(db).cancel(other.id);
    await database.pool.query("delete from queue.job_keys");
    await queue.admin(db).retry(dead);
    expect(await queue.enqueue(db, "a", 3, untilEnded)).toEqual({ id: dead, inserted: false });
  });

  test("holds it as it did itself, not as the other one did", async () => {
    const db = kyselyOn(database.pool);
    const dead = await enqueueAndKill(untilEnded);
    await queue.enqueue(db, "a", 2, { key: "k", keyHolds: 1 });
    await database.pool.query("update queue.job_keys set expires_at = '2000-01-01'");
    await queue.admin(db).retry(dead);
    expect(await queue.enqueue(db, "a", 3, untilEnded)).toEqual({ id: dead, inserted: false });
    await workerOn(db).claim();
    expect(await queue.enqueue(db, "a", 3, untilEnded)).toEqual({ id: dead, inserted: false });
  });

  test("takes nothing when its own hold was one for a time, or until the start", async () => {
    const db = kyselyOn(database.pool);
    for (const keyHolds of [1, "until-started"] as const) {
      const key = String(keyHolds);
      const dead = await enqueueAndKill({ key, keyHolds });
      await database.pool.query("update queue.job_keys set expires_at = '2000-01-01' where release_on is null");
      const other = await queue.enqueue(db, "a", 2, { key, keyHolds: "until-ended" });
      expect(other.inserted).toBe(true);
      await queue.admin(db).cancel(other.id);
      expect(await queue.admin(db).retry(dead)).toMatchObject({ status: "queued" });
      expect(await queue.enqueue(db, "a", 3, { key, keyHolds })).toMatchObject({ inserted: true });
    }
  });
});

describe("a retry of a dead letter that somebody else has locked", () => {
  test("waits, and brings it back", async () => {
    await using other = await openSession(database.url);
    await using operator = await openSession(database.url);
    const dead = await enqueueAndKill(untilEnded);
    await other.query("begin");
    await other.query(`select from queue.jobs where id = ${dead} for update`);
    const retried = queue.admin(operator.executor).retry(dead);
    await untilBlocked(database.pool, operator, retried);
    await other.query("commit");
    expect(await retried).toMatchObject({ status: "queued" });
  });

  test("waits for an enqueue that judges its key, and stays dead when that one took it", async () => {
    await using producer = await openSession(database.url);
    await using operator = await openSession(database.url);
    const dead = await enqueueAndKill(untilEnded);
    await producer.query("begin");
    await queue.enqueue(producer.executor, "a", 2, untilEnded);
    const retried = rejectionOf(queue.admin(operator.executor).retry(dead));
    await untilBlocked(database.pool, operator, retried);
    await producer.query("commit");
    expect(await retried).toMatchObject({ code: "KEY_HELD" });
  });

  test("finds it queued when the other redrove it", async () => {
    await using other = await openSession(database.url);
    await using operator = await openSession(database.url);
    const dead = await enqueueAndKill(untilEnded);
    await other.query("begin");
    await queue.admin(other.executor).retry(dead);
    const retried = queue.admin(operator.executor).retry(dead);
    await untilBlocked(database.pool, operator, retried);
    await other.query("commit");
    expect(await retried).toMatchObject({ status: "queued", redrives: 1 });
  });

  test("says that it was cancelled, when that is what the other did", async () => {
    await using other = await openSession(database.url);
    await using operator = await openSession(database.url);
    const dead = await enqueueAndKill(untilEnded);
    await other.query("begin");
    await queue.admin(other.executor).cancel(dead);
    const retried = rejectionOf(queue.admin(operator.executor).retry(dead));
    await untilBlocked(database.pool, operator, retried);
    await other.query("commit");
    expect(await retried).toMatchObject({ code: "JOB_STATE", message: expect.stringContaining("is cancelled") });
  });
});

describe("two dead letters of one key", () => {
  test("one of them is redriven, the other is a conflict; a dry run says the same", async () => {
    const admin = queue.admin(kyselyOn(database.pool));
    const first = await enqueueAndKill(untilEnded);
    const second = await enqueueAndKill(untilEnded);
    expect(await admin.redrive({ all: true, dryRun: true })).toEqual({ count: 1, dryRun: true, conflicts: [first] });
    expect(await statuses()).toEqual({ [first]: "dead", [second]: "dead" });
    expect(await admin.redrive({ all: true })).toEqual({ count: 1, dryRun: false, conflicts: [first] });
    expect(await statuses()).toEqual({ [first]: "dead", [second]: "queued" });
  });

  test("of which the newer one was redriven alone: the older one is a conflict, and the reverse", async () => {
    const admin = queue.admin(kyselyOn(database.pool));
    const first = await enqueueAndKill(untilEnded);
    const second = await enqueueAndKill(untilEnded);
    await admin.retry(first);
    expect(await rejectionOf(admin.retry(second))).toMatchObject({ code: "KEY_HELD" });
    expect(await statuses()).toEqual({ [first]: "queued", [second]: "dead" });
  });

  test("that two operators redrive at the same moment: never both", async () => {
    await using one = await openSession(database.url);
    await using two = await openSession(database.url);
    const first = await enqueueAndKill(untilEnded);
    const second = await enqueueAndKill(untilEnded);
    await one.query("begin");
    await queue.admin(one.executor).retry(first);
    const other = queue
      .admin(two.executor)
      .retry(second)
      .catch((error: unknown) => error);
    await untilBlocked(database.pool, two, other);
    await one.query("commit");
    await other;
    expect(Object.values(await statuses()).filter((status) => status === "queued")).toHaveLength(1);
  });

  test("and the same in the other order", async () => {
    await using one = await openSession(database.url);
    await using two = await openSession(database.url);
    const first = await enqueueAndKill(untilEnded);
    const second = await enqueueAndKill(untilEnded);
    await one.query("begin");
    await queue.admin(one.executor).retry(second);
    const other = queue
      .admin(two.executor)
      .retry(first)
      .catch((error: unknown) => error);
    await untilBlocked(database.pool, two, other);
    await one.query("commit");
    await other;
    expect(Object.values(await statuses()).filter((status) => status === "queued")).toHaveLength(1);
  });
});

describe("a redrive and an enqueue of its key at the same moment", () => {
  test("the enqueue comes second: it is merged into the job that was redriven", async () => {
    await using operator = await openSession(database.url);
    await using producer = await openSession(database.url);
    const dead = await enqueueAndKill(untilEnded);
    await operator.query("begin");
    await queue.admin(operator.executor).retry(dead);
    const enqueued = queue.enqueue(producer.executor, "a", 2, untilEnded);
    await untilBlocked(database.pool, producer, enqueued);
    await operator.query("commit");
    expect(await enqueued).toEqual({ id: dead, inserted: false });
    expect(await statuses()).toEqual({ [dead]: "queued" });
  });

  test("the enqueue comes second, and the redrive is rolled back: it inserts", async () => {
    await using operator = await openSession(database.url);
    await using producer = await openSession(database.url);
    const dead = await enqueueAndKill(untilEnded);
    await operator.query("begin");
    await queue.admin(operator.executor).retry(dead);
    const enqueued = queue.enqueue(producer.executor, "a", 2, untilEnded);
    await untilBlocked(database.pool, producer, enqueued);
    await operator.query("rollback");
    expect((await enqueued).inserted).toBe(true);
    expect(Object.values(await statuses())).toEqual(["dead", "queued"]);
  });

  test("the enqueue comes first: the dead letter stays dead", async () => {
    await using operator = await openSession(database.url);
    await using producer = await openSession(database.url);
    const dead = await enqueueAndKill(untilEnded);
    await producer.query("begin");
    expect(await queue.enqueue(producer.executor, "a", 2, untilEnded)).toMatchObject({ inserted: true });
    const redriven = queue.admin(operator.executor).redrive({ all: true });
    await untilBlocked(database.pool, operator, redriven);
    await producer.query("commit");
    expect(await redriven).toMatchObject({ count: 0 });
    expect((await statuses())[dead]).toBe("dead");
  });
});
