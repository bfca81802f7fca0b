import { createQueue, job } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import type { Kysely } from "kysely";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { kyselyOn } from "./support/kysely-on.js";
import { rejectionOf } from "./support/thrown-by.js";
import { workerOn } from "./support/worker-on.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job<number>(), b: job<number>() } });
let db: Kysely<object>;
let admin: ReturnType<typeof queue.admin>;

beforeAll(() => {
  db = kyselyOn<object>(database.pool);
  admin = queue.admin(db);
});

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.job_keys, queue.jobs_archive");
});

async function allPages(filter: Parameters<typeof admin.jobs>[0], limit: number): Promise<string[]> {
  const ids: string[] = [];
  for (let after: string | null = null; ;) {
    const page = await admin.jobs({ ...filter, after, limit });
    expect(page.items.length).toBeLessThanOrEqual(limit);
    ids.push(...page.items.map(({ id }) => id));
    if (page.next === null) return ids;
    after = page.next;
  }
}

describe("admin.job", () => {
  test("shows everything that is known of a live job", async () => {
    const runAt = new Date(Date.now() + 3_600_000);
    const { id } = await queue.enqueue(db, "a", 7, { key: "k", priority: 2, maxAttempts: 3, lane: "mail", runAt });
    const record = await admin.job(id);
    expect(record).toEqual({
      id,
      kind: "a",
      lane: "mail",
      status: "queued",
      priority: 2,
      payload: 7,
      isPayloadKept: true,
      attempts: 0,
      maxAttempts: 3,
      redrives: 0,
      key: "k",
      worker: null,
      lastError: null,
      errors: [],
      createdAt: expect.any(Date),
      runAt,
      startedAt: null,
      finishedAt: null,
    });
    expect(Math.abs((record?.createdAt.getTime() ?? 0) - Date.now())).toBeLessThan(5_000);
  });

  test("finds a job in every state", async () => {
    const ids = await queue.enqueueMany(
      db,
      Array.from({ length: 6 }, (_, n) => ({ kind: "a", payload: n })),
    );
    const [queued = "", running = "", done = "", dead = "", cancelled = "", waiting = ""] = ids.map(({ id }) => id);
    await admin.cancel(cancelled);
    await database.pool.query("update queue.jobs set run_at = now() + interval '1 hour' where id = $1", [queued]);
    await database.pool.query("update queue.jobs set status = 'waiting' where id = $1", [waiting]);
    const worker = workerOn(db);
    const claimed = await worker.claim();
    await worker.complete(claimed.filter(({ id }) => id === done));
    await worker.requeue({ [dead]: { fence: 1, status: "dead", delayMs: 0, attemptsBack: 0 } });
    const states = { queued, running, done, dead, cancelled, waiting };
    for (const [status, id] of Object.entries(states)) {
      const record = await admin.job(id);
      expect(record).toMatchObject({
        id,
        status,
        startedAt: ["queued", "waiting", "cancelled"].includes(status) ? null : expect.any(Date),
      });
      expect(record?.finishedAt === null).toBe(["queued", "waiting", "running"].includes(status));
      expect((await admin.jobs({ status: status as "queued" })).items.map((item) => item.id)).toEqual([id]);
    }
    expect(await allPages({}, 50)).toEqual(ids.map(({ id }) => id).reverse());
  });

  test("is null for an id that no job has", async () => {
    expect(await admin.job("999999999")).toBeNull();
    expect(await admin.job("9223372036854775807")).toBeNull();
    expect(await admin.job("0")).toBeNull();
  });

  test.each([
    ["text"],
    ["-1"],
    ["1.5"],
    ["1e3"],
    [" 1"],
    [""],
    ["9223372036854775808"],
    ["1".repeat(400)],
    ["1; drop table x"],
    [1],
    [1n],
    [null],
  ])("refuses %s as an id, before any SQL, in every method", async (id) => {
    await db.transaction().execute(async (trx) => {
      const inTransaction = queue.admin(trx);
      for (const method of ["job", "retry", "cancel"] as const) {
        expect(await rejectionOf(inTransaction[method](id as string))).toMatchObject({ code: "INVALID_OPTION", option: "id" });
      }
      if (id !== null)
        expect(await rejectionOf(inTransaction.jobs({ after: id as string }))).toMatchObject({ code: "INVALID_OPTION", option: "after" });
      expect(await inTransaction.job("1")).toBeNull();
    });
  });
});

describe("admin.jobs", () => {
  test("B44: a thousand jobs of one statement come page by page, each once", async () => {
    const results = await queue.enqueueMany(
      db,
      Array.from({ length: 1_000 }, (_, n) => ({ kind: "a", payload: n })),
    );
    const newestFirst = results.map(({ id }) => id).reverse();
    expect(await allPages({}, 7)).toEqual(newestFirst);
    expect(await allPages({}, 1_000)).toEqual(newestFirst);
    expect(await allPages({ status: "queued", kind: "a", lane: "default" }, 333)).toEqual(newestFirst);
  });

  test("pages go on where they were while jobs come and go, over both tables", async () => {
    const ids = (
      await queue.enqueueMany(
        db,
        Array.from({ length: 20 }, (_, n) => ({ kind: "a", payload: n })),
      )
    ).map(({ id }) => id);
    const first = await admin.jobs({ limit: 5 });
    await admin.cancel(ids[17] ?? "");
    await admin.cancel(ids[10] ?? "");
    await queue.enqueue(db, "a", 99);
    const second = await admin.jobs({ after: first.next, limit: 50 });
    expect(second.items.map(({ id }) => id)).toEqual(ids.slice(0, 15).reverse());
    expect(second.next).toBeNull();
  });

  test("exactly a page full is the last page", async () => {
    await queue.enqueueMany(
      db,
      Array.from({ length: 4 }, (_, n) => ({ kind: "a", payload: n })),
    );
    expect((await admin.jobs({ limit: 4 })).next).toBeNull();
    expect((await admin.jobs({ limit: 3 })).next).toEqual(expect.any(String));
    expect(await admin.jobs({ kind: "of-another-release" })).toEqual({ items: [], next: null });
  });

  test("filters by status, kind and lane together", async () => {
    await queue.enqueueMany(db, [
      { kind: "a", payload: 1, options: { lane: "x" } },
      { kind: "a", payload: 2, options: { lane: "y" } },
      { kind: "b", payload: 3, options: { lane: "x" } },
    ]);
    const payloads = async (filter: Parameters<typeof admin.jobs>[0]) => (await admin.jobs(filter)).items.map(({ payload }) => payload);
    expect(await payloads({ kind: "a", lane: "x" })).toEqual([1]);
    expect(await payloads({ lane: "x" })).toEqual([3, 1]);
    expect(await payloads({ kind: "a", status: "dead" })).toEqual([]);
    expect(await payloads({ status: undefined, kind: undefined, lane: undefined, after: undefined, limit: undefined })).toEqual([3, 2, 1]);
    expect(await payloads({ after: null })).toEqual([3, 2, 1]);
  });

  test.each<[option: string, filter: object]>([
    ["limit", { limit: 0 }],
    ["limit", { limit: 1_001 }],
    ["limit", { limit: 1.5 }],
    ["limit", { limit: "5" }],
    ["status", { status: "failed" }],
    ["before", { before: "1" }],
  ])("refuses a wrong %s", async (option, filter) => {
    expect(await rejectionOf(admin.jobs(filter))).toMatchObject({ code: "INVALID_OPTION", option });
  });
});
