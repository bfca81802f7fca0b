import { createQueue, job } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import type { Kysely } from "kysely";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { toExecutor } from "../src/ports/kysely-like.js";
import { createAdminStatements } from "../src/store/admin-statements.js";
import { runStatement } from "../src/store/statement.js";
import { kyselyOn } from "./support/kysely-on.js";
import { rejectionOf } from "./support/thrown-by.js";
import { workerOn } from "./support/worker-on.js";

const database = useTestDatabase();
const queue = createQueue({
  jobs: { a: job<number>({ keep: "2h" }), fleeting: job<number>({ keep: false }), b: job<number>({ lane: "b" }) },
});
const error = { name: "Error", message: "no", stack: "Error: no" };
let db: Kysely<object>;
let admin: ReturnType<typeof queue.admin>;
let worker: ReturnType<typeof workerOn>;

beforeAll(() => {
  db = kyselyOn<object>(database.pool);
  admin = queue.admin(db);
  worker = workerOn(db);
});

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.job_keys, queue.jobs_archive");
});

const enqueue = async (kind: "a" | "b" | "fleeting" = "a") => (await queue.enqueue(db, kind, 1)).id;

async function run(kind: "a" | "b" | "fleeting" = "a") {
  const id = await enqueue(kind);
  const claimed = await worker.claim({ kinds: ["a", "b", "fleeting"], lanes: ["default", "b"] });
  expect(claimed.map((row) => row.id)).toEqual([id]);
  return { id, claims: claimed[0]?.claims ?? 0 };
}

async function die(kind: "a" | "b" = "a"): Promise<string> {
  const { id, claims } = await run(kind);
  await worker.requeue({ [id]: { fence: claims, status: "dead", delayMs: 0, attemptsBack: 0, error } });
  return id;
}

async function done(): Promise<string> {
  const claimed = await run();
  await worker.complete([claimed]);
  return claimed.id;
}

describe("retry", () => {
  test("makes a job due now that waits for its time, with its attempts as they are", async () => {
    const { id } = await queue.enqueue(db, "a", 1, { delay: "1h" });
    await database.pool.query("update queue.jobs set attempts = 3");
    const record = await admin.retry(id);
    expect(record).toMatchObject({ id, status: "queued", attempts: 3, redrives: 0 });
    expect(record.runAt.getTime()).toBeLessThanOrEqual(Date.now() + 1_000);
    expect(await worker.claim()).toMatchObject([{ id }]);
  });

  test("leaves one that is due as it is", async () => {
    const id = await enqueue();
    const before = await admin.job(id);
    expect(await admin.retry(id)).toEqual(before);
  });

  test("brings a dead one back with all its attempts, and its history", async () => {
    const id = await die();
    expect(await admin.retry(id)).toMatchObject({
      status: "queued",
      attempts: 0,
      redrives: 1,
      lastError: "no",
      errors: [{ message: "no" }],
      finishedAt: null,
    });
    expect(await worker.claim()).toMatchObject([{ id, attempts: 1, claims: 2 }]);
  });

  test("refuses what is running, done, cancelled or not there, and the transaction goes on", async () => {
    const finished = await done();
    const cancelled = await enqueue();
    await admin.cancel(cancelled);
    const { id: running } = await run();
    await db.transaction().execute(async (trx) => {
      const inTransaction = queue.admin(trx);
      for (const [id, status] of [
        [running, "running"],
        [finished, "done"],
        [cancelled, "cancelled"],
      ] as const) {
        const refusal = await rejectionOf(inTransaction.retry(id));
        expect(refusal).toMatchObject({ code: "JOB_STATE", jobId: id, status });
        expect(refusal.message).toBe(`Job ${id} is ${status} and cannot be retried.`);
      }
      expect(await rejectionOf(inTransaction.retry("999999"))).toMatchObject({ code: "JOB_NOT_FOUND", jobId: "999999" });
      expect(await inTransaction.job(running)).toMatchObject({ status: "running" });
    });
  });
});

describe("cancel", () => {
  test.each<[name: string, make: () => Promise<string>, attempts: number]>([
    ["queued", () => enqueue(), 0],
    ["delayed", async () => (await queue.enqueue(db, "a", 1, { delay: "1h" })).id, 0],
    ["dead", () => die(), 1],
    ["running", async () => (await run()).id, 1],
  ])("moves a %s job to the archive, and gives its record", async (_name, make, attempts) => {
    const id = await make();
    const record = await admin.cancel(id);
    expect(record).toMatchObject({ id, status: "cancelled", attempts, payload: 1, finishedAt: expect.any(Date) });
    expect(await admin.job(id)).toMatchObject({ id, status: "cancelled", attempts });
    const { rows } = await database.pool.query(
      "select (select count(*)::int from queue.jobs) as live, round(extract(epoch from keep_until - finished_at))::int as kept from queue.jobs_archive",
    );
    expect(rows).toEqual([{ live: 0, kept: 7_200 }]);
    expect(await worker.claim()).toEqual([]);
  });

  test("B98: whatever a handler does after its job was cancelled, the job stays cancelled, at attempt 1", async () => {
    const claimed = await run();
    await admin.cancel(claimed.id);
    expect(await worker.extend([claimed])).toEqual([{ id: claimed.id, extended: false, held: false }]);
    expect(await worker.complete([claimed])).toEqual([]);
    expect(await worker.requeue({ [claimed.id]: { fence: claimed.claims, status: "queued", delayMs: 0, attemptsBack: 0, error } })).toEqual(
      [],
    );
    expect(await worker.requeue({ [claimed.id]: { fence: claimed.claims, status: "dead", delayMs: 0, attemptsBack: 0, error } })).toEqual(
      [],
    );
    expect(await worker.run(worker.statements.findEnded, { ids: `{${claimed.id}}` })).toEqual([
      { id: claimed.id, status: "cancelled", claims: claimed.claims, worker: "w1" },
    ]);
    expect(await admin.job(claimed.id)).toMatchObject({ status: "cancelled", attempts: 1, errors: [] });
  });

  test("answers the moment that is archived, to the microsecond", async () => {
    const statement = createAdminStatements("queue").cancelJob;
    const input = { id: await enqueue(), keeps: "{}", defaultKeepMs: 60_000 };
    const [cancelled] = await runStatement(toExecutor(db), statement, input);
    const { rows } = await database.pool.query<{ at: string }>(
      "select (extract(epoch from finished_at) * 1000000)::int8::text as at from queue.jobs_archive where id = $1",
      [input.id],
    );
    expect(rows).toEqual([{ at: cancelled?.finished_at }]);
  });

  test("is safe to repeat, and refuses a job that is done or not there", async () => {
    const id = await enqueue();
    const first = await admin.cancel(id);
    expect(await admin.cancel(id)).toEqual(first);
    const finished = await done();
    expect(await rejectionOf(admin.cancel(finished))).toMatchObject({ code: "JOB_STATE", jobId: finished, status: "done" });
    expect(await rejectionOf(admin.cancel("999999"))).toMatchObject({ code: "JOB_NOT_FOUND", jobId: "999999" });
  });

  test("keeps nothing of a kind that keeps nothing, and a week of a kind that this release does not know", async () => {
    const fleeting = await enqueue("fleeting");
    expect(await admin.cancel(fleeting)).toMatchObject({ id: fleeting, status: "cancelled" });
    expect(await admin.job(fleeting)).toBeNull();
    for (const kind of ["gone", "constructor", "__proto__"]) {
      const { rows } = await database.pool.query<{ id: string }>("insert into queue.jobs (kind) values ($1) returning id::text", [kind]);
      await admin.cancel(rows[0]?.id ?? "");
    }
    const { rows } = await database.pool.query(
      "select round(extract(epoch from keep_until - finished_at))::int as kept from queue.jobs_archive",
    );
    expect(rows).toEqual([{ kept: 604_800 }, { kept: 604_800 }, { kept: 604_800 }]);
  });
});

describe("redrive", () => {
  test("needs a filter, or all: true", async () => {
    for (const filter of [{}, { limit: 5 }, { dryRun: true }, { all: undefined }, { all: false }]) {
      expect(await rejectionOf(admin.redrive(filter as object))).toMatchObject({ code: "INVALID_OPTION", option: "all" });
    }
    expect(await rejectionOf(admin.redrive(undefined as never))).toMatchObject({ code: "INVALID_OPTION" });
    expect(await rejectionOf(admin.redrive({ all: true, kinds: "a" } as never))).toMatchObject({ code: "INVALID_OPTION", option: "kinds" });
    expect(await rejectionOf(admin.redrive({ all: true, limit: 0 }))).toMatchObject({ code: "INVALID_OPTION", option: "limit" });
    expect(await rejectionOf(admin.redrive({ deadAfter: new Date(Number.NaN) }))).toMatchObject({
      code: "INVALID_OPTION",
      option: "deadAfter",
    });
    expect(await rejectionOf(admin.redrive({ deadAfter: "2026-01-01" as never }))).toMatchObject({
      code: "INVALID_OPTION",
      option: "deadAfter",
    });
  });

  test("by kind, by lane, by the time of death, and no more than the limit; a dry run counts the same and changes nothing", async () => {
    const first = await die("a");
    const second = await die("b");
    const third = await die("a");
    await database.pool.query("update queue.jobs set run_at = now() - interval '1 hour' where id = $1", [first]);
    const filters = [
      [{ kind: "b" }, 1],
      [{ lane: "b" }, 1],
      [{ kind: "a", lane: "b" }, 0],
      [{ deadAfter: new Date(Date.now() - 60_000) }, 2],
      [{ kind: "a", deadAfter: new Date(Date.now() - 60_000) }, 1],
      [{ all: true, limit: 2 }, 2],
      [{ all: true }, 3],
    ] as const;
    for (const [filter, count] of filters)
      expect(await admin.redrive({ ...filter, dryRun: true })).toEqual({ count, dryRun: true, conflicts: [] });
    expect((await admin.jobs({ status: "dead" })).items).toHaveLength(3);
    expect(await admin.redrive({ lane: "b" })).toEqual({ count: 1, dryRun: false, conflicts: [] });
    expect((await admin.jobs({ status: "dead" })).items.map(({ id }) => id)).toEqual([third, first]);
    expect((await admin.job(second))?.redrives).toBe(1);
    expect(await admin.redrive({ all: true, limit: 1 })).toMatchObject({ count: 1 });
    expect((await admin.jobs({ status: "dead" })).items.map(({ id }) => id)).toEqual([third]);
  });

  test("B68: a job that dies twice keeps its settings and both histories, and is one row at all times", async () => {
    const { id } = await queue.enqueue(db, "a", 1, { priority: 7, maxAttempts: 2, key: "k", lane: "special" });
    const groups = [{ take: 1, lines: [{ lane: "special", priority: 7, since: null, since_id: "0" }] }];
    const failTwice = async (message: string) => {
      for (const status of ["queued", "dead"] as const) {
        const [claimed] = await worker.claim({ groups });
        expect(claimed).toMatchObject({ id, max_attempts: 2, idempotency_key: "k", payload: "1" });
        await worker.requeue({
          [id]: { fence: claimed?.claims ?? 0, status, delayMs: 0, attemptsBack: 0, error: { name: "Error", message } },
        });
      }
    };
    await failTwice("first life");
    expect(await admin.redrive({ kind: "a" })).toEqual({ count: 1, dryRun: false, conflicts: [] });
    expect(await admin.job(id)).toMatchObject({
      status: "queued",
      attempts: 0,
      redrives: 1,
      priority: 7,
      maxAttempts: 2,
      key: "k",
      lane: "special",
    });
    await failTwice("second life");
    const record = await admin.job(id);
    expect(record).toMatchObject({ status: "dead", attempts: 2, redrives: 1, lastError: "second life" });
    expect(record?.errors.map(({ attempt, message }) => [attempt, message])).toEqual([
      [1, "first life"],
      [2, "first life"],
      [1, "second life"],
      [2, "second life"],
    ]);
    const { rows } = await database.pool.query("select count(*)::int as count from queue.all_jobs");
    expect(rows).toEqual([{ count: 1 }]);
  });

  test("of 2,500 dead letters goes on in batches until all are back, conflicts among them", async () => {
    await queue.enqueueMany(
      db,
      Array.from({ length: 2_500 }, (_, n) => ({ kind: "a", payload: n, options: { key: `k${n}`, keyHolds: "until-ended" } })),
    );
    await database.pool.query("update queue.jobs set status = 'dead', attempts = 8");
    const held = await queue.enqueueMany(
      db,
      [3, 1_500, 2_499].map((n) => ({ kind: "a", payload: n, options: { key: `k${n}`, keyHolds: "until-ended" } })),
    );
    expect(held.every(({ inserted }) => inserted)).toBe(true);
    const dry = await admin.redrive({ all: true, dryRun: true });
    const result = await admin.redrive({ all: true });
    expect(result).toMatchObject({ count: 2_497, dryRun: false });
    expect(result.conflicts).toHaveLength(3);
    expect(dry).toEqual({ ...result, dryRun: true });
    const { rows } = await database.pool.query(
      "select status, count(*)::int as count, min(attempts) as attempts from queue.jobs group by status order by status",
    );
    expect(rows).toEqual([
      { status: "queued", count: 2_500, attempts: 0 },
      { status: "dead", count: 3, attempts: 8 },
    ]);
  });
});
