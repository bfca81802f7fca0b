import { createQueue, job, type JsonValue } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import type { Kysely } from "kysely";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { kyselyOn } from "./support/kysely-on.js";
import { openSession, untilBlocked } from "./support/session.js";
import { seededRandom } from "./support/seeded-random.js";
import { rejectionOf } from "./support/thrown-by.js";
import { workerOn } from "./support/worker-on.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job<JsonValue>() } });
let db: Kysely<object>;
let worker: ReturnType<typeof workerOn>;

beforeAll(() => {
  db = kyselyOn<object>(database.pool);
  worker = workerOn(db);
});

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.jobs_archive");
});

async function run(payload: JsonValue = 1) {
  await queue.enqueue(db, "a", payload, { key: `k${Math.random()}` });
  const [claimed] = await worker.claim({ limit: 1 });
  if (claimed === undefined) throw new Error("Nothing was due.");
  return claimed;
}

async function rows(table: string): Promise<Record<string, unknown>[]> {
  return (await database.pool.query(`select * from queue.${table} order by id`)).rows;
}

describe("a job that is done", () => {
  test("moves to the archive with all that is known of it", async () => {
    const { id, claims } = await run({ n: [1] });
    const [before] = await rows("jobs");
    expect(await worker.complete([{ id, claims }], 90_000)).toEqual([id]);
    expect(await rows("jobs")).toEqual([]);
    const [archived] = await rows("jobs_archive");
    const { finished_at, keep_until, ...same } = archived as { finished_at: Date; keep_until: Date };
    const { locked_until, key_release, ...kept } = before as { locked_until: Date; key_release: string | null };
    expect(same).toEqual({ ...kept, status: "done" });
    expect(keep_until.getTime() - finished_at.getTime()).toBe(90_000);
    expect(key_release).toBeNull();
    expect(locked_until.getTime()).toBeGreaterThan(finished_at.getTime());
  });

  test("leaves no row at all when it is not to be kept; the others of its batch do", async () => {
    const [first, second] = [await run(), await run()];
    const completed = await worker.run(worker.statements.completeJobs, {
      ids: `{${first.id},${second.id}}`,
      fences: "{1,1}",
      keeps: "{-1,0}",
      worker: "w1",
    });
    expect(completed.map(({ id }) => id).sort()).toEqual([first.id, second.id].sort());
    expect(await rows("jobs")).toEqual([]);
    expect((await rows("jobs_archive")).map(({ id }) => id)).toEqual([second.id]);
  });

  test("a payload of more than 2 kB is not written a second time", async () => {
    const random = seededRandom(1);
    const noise = (length: number) => Array.from({ length }, () => String.fromCharCode(32 + Math.floor(random() * 0x2000))).join("");
    const small = await run(noise(600));
    const large = await run(noise(3_000));
    // What counts is its size in the table: this one is compressed there.
    const repetitive = await run("x".repeat(50_000));
    await worker.complete([small, large, repetitive]);
    const archived = await rows("jobs_archive");
    expect(archived.map(({ payload }) => payload !== null)).toEqual([true, false, true]);
    const admin = queue.admin(db);
    expect(await admin.job(small.id)).toMatchObject({ payload: expect.any(String), isPayloadKept: true });
    expect(await admin.job(large.id)).toMatchObject({ payload: null, isPayloadKept: false });
  });

  test("the JSON value null is a payload that is kept", async () => {
    const nothing = await run(null);
    await worker.complete([nothing]);
    expect(await queue.admin(db).job(nothing.id)).toMatchObject({ payload: null, isPayloadKept: true });
  });
});

describe("the fence", () => {
  test.each<[name: string, spoil: (id: string) => string]>([
    ["another worker has it", (id) => `update queue.jobs set worker = 'w2' where id = ${id}`],
    ["it was claimed again by the same worker", (id) => `update queue.jobs set claims = claims + 1 where id = ${id}`],
    ["it is queued again", (id) => `update queue.jobs set status = 'queued' where id = ${id}`],
    ["it is dead", (id) => `update queue.jobs set status = 'dead' where id = ${id}`],
    ["it is gone", (id) => `delete from queue.jobs where id = ${id}`],
  ])("lets nothing through when %s", async (_name, spoil) => {
    const claimed = await run();
    const other = await run();
    await database.pool.query(spoil(claimed.id));
    const before = (await rows("jobs")).filter(({ id }) => id === claimed.id);
    expect(await worker.complete([claimed, other])).toEqual([other.id]);
    expect((await rows("jobs")).filter(({ id }) => id === claimed.id)).toEqual(before);
    expect((await rows("jobs_archive")).map(({ id }) => id)).toEqual([other.id]);
  });

  test("B38: a late completion by the worker that lost the job changes nothing", async () => {
    const late = await run();
    await database.pool.query("update queue.jobs set locked_until = now() - interval '1 second'");
    await worker.sweep();
    const [current] = await workerOn(db, { worker: "w2" }).claim();
    expect(current).toMatchObject({ id: late.id, claims: 2, attempts: 2 });
    expect(await worker.complete([late])).toEqual([]);
    expect(await workerOn(db, { worker: "w2" }).complete([{ id: late.id, claims: 2 }])).toEqual([late.id]);
  });

  test.each(["completion", "retry"])(
    "judges a job again that it had to wait for: a %s comes to nothing when a sweep got there first",
    async (late) => {
      const claimed = await run();
      await database.pool.query("update queue.jobs set locked_until = now() - interval '1 second'");
      await using sweeper = await openSession(database.url);
      await using settler = await openSession(database.url);
      await sweeper.query("begin");
      expect(await workerOn(sweeper.executor).sweep()).toHaveLength(1);
      const lateWorker = workerOn(settler.executor);
      const settling =
        late === "completion"
          ? lateWorker.completeOwn([claimed])
          : lateWorker.requeueOwn({ [claimed.id]: { fence: claimed.claims, status: "queued", delayMs: 0, attemptsBack: 1 } });
      await untilBlocked(database.pool, settler);
      await sweeper.query("commit");
      expect(await settling).toEqual([]);
      expect(await rows("jobs")).toMatchObject([{ id: claimed.id, status: "queued", claims: 1, attempts: 1 }]);
    },
  );

  test("a completion that is repeated changes nothing", async () => {
    const claimed = await run();
    expect(await worker.complete([claimed])).toEqual([claimed.id]);
    expect(await worker.complete([claimed])).toEqual([]);
    expect(await rows("jobs_archive")).toHaveLength(1);
  });

  test.each(["completion", "retry"])(
    "a %s in a batch leaves a row alone that somebody has locked, and records the others",
    async (outcome) => {
      const [first, locked, last] = [await run(), await run(), await run()];
      await using other = await openSession(database.url);
      await other.query("begin");
      await queue.admin(other.executor).cancel(locked.id);
      const again = { fence: 1, status: "queued", delayMs: 0, attemptsBack: 0 } as const;
      const settle = (jobs: readonly (typeof first)[]) =>
        outcome === "completion" ? worker.complete(jobs) : worker.requeue(Object.fromEntries(jobs.map(({ id }) => [id, again])));
      expect((await settle([first, locked, last])).toSorted()).toEqual([first.id, last.id].toSorted());
      expect(await worker.extend([locked])).toEqual([{ id: locked.id, extended: false, held: true }]);
      await other.query("rollback");
      expect(await settle([locked])).toEqual([locked.id]);
    },
  );

  test("B98: of a completion and a cancel at the same moment one wins, and both say which", async () => {
    for (const first of ["cancel", "complete"] as const) {
      const claimed = await run();
      await using one = await openSession(database.url);
      await using two = await openSession(database.url);
      const cancel = (session: typeof one) => queue.admin(session.executor).cancel(claimed.id);
      const complete = (session: typeof one) => workerOn(session.executor).completeOwn([claimed]);
      await one.query("begin");
      const isFirst = first === "cancel" ? await cancel(one) : await complete(one);
      const second = first === "cancel" ? complete(two) : cancel(two).catch((error: unknown) => error);
      await untilBlocked(database.pool, two);
      await one.query("commit");
      const record = await queue.admin(db).job(claimed.id);
      if (first === "cancel") {
        expect(isFirst).toMatchObject({ status: "cancelled", attempts: 1 });
        expect(await second).toEqual([]);
        expect(record).toMatchObject({ status: "cancelled", attempts: 1 });
      } else {
        expect(isFirst).toEqual([claimed.id]);
        expect(await second).toMatchObject({ code: "JOB_STATE", status: "done" });
        expect(record).toMatchObject({ status: "done" });
      }
    }
  });
});

describe("a completion in the handler's own transaction", () => {
  test("commits with the handler's writes, or not at all", async () => {
    const claimed = await run();
    await rejectionOf(
      db.transaction().execute(async (trx) => {
        expect(await workerOn(trx).completeOwn([claimed])).toEqual([claimed.id]);
        throw new Error("the handler failed");
      }),
    );
    expect(await rows("jobs")).toMatchObject([{ id: claimed.id, status: "running" }]);
    expect(await rows("jobs_archive")).toEqual([]);
    await db.transaction().execute((trx) => workerOn(trx).completeOwn([claimed]));
    expect(await rows("jobs")).toEqual([]);
  });
});

test("completions and heartbeats of one worker over the same jobs never deadlock, in 60 rounds", async () => {
  await using one = await openSession(database.url);
  await using two = await openSession(database.url);
  await using three = await openSession(database.url);
  for (let round = 0; round < 60; round++) {
    await queue.enqueueMany(
      db,
      Array.from({ length: 50 }, () => ({ kind: "a", payload: 1 })),
    );
    const claimed = (await worker.claim({ limit: 50 })).toSorted((a, b) => Number(a.id) - Number(b.id));
    const reversed = claimed.toReversed();
    const even = claimed.filter((_, n) => n % 2 === 0);
    const odd = claimed.filter((_, n) => n % 2 === 1);
    const requeue = { fence: 1, status: "queued", delayMs: 3_600_000, attemptsBack: 0 } as const;
    const [done, again] = await Promise.all([
      workerOn(one.executor).completeOwn(even),
      workerOn(two.executor).requeueOwn(Object.fromEntries(odd.map(({ id }) => [id, requeue]))),
      workerOn(three.executor).extend(reversed),
    ]);
    expect([done.length, again.length]).toEqual([25, 25]);
  }
});
