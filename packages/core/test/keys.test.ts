import { createQueue, type EnqueueOptions, job } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import type { Kysely } from "kysely";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { about } from "./support/close-to.js";
import { kyselyOn } from "./support/kysely-on.js";
import { type Claimed, workerOn } from "./support/worker-on.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job<number>(), b: job<number>(), fleeting: job<number>({ keep: false }) } });
let db: Kysely<object>;
let worker: ReturnType<typeof workerOn>;

beforeAll(() => {
  db = kyselyOn<object>(database.pool);
  worker = workerOn(db);
});

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.job_keys, queue.jobs_archive");
});

const enqueue = (keyHolds: EnqueueOptions["keyHolds"], key = "k") => queue.enqueue(db, "a", 1, { key, keyHolds });

async function claimOne(): Promise<Claimed> {
  const [claimed] = await worker.claim({ limit: 1 });
  if (claimed === undefined) throw new Error("Nothing was due.");
  return claimed;
}

const put =
  (status: "queued" | "dead", delayMs = 0, attemptsBack: 0 | 1 = 0) =>
  async ({ id, claims }: Claimed) => {
    expect(await worker.requeue({ [id]: { fence: claims, status, delayMs, attemptsBack } })).toEqual([id]);
  };
const complete = async (claimed: Claimed) => expect(await worker.complete([claimed])).toEqual([claimed.id]);

describe("a key", () => {
  test("is held against the same kind only, and is the text that it is", async () => {
    const first = await queue.enqueue(db, "a", 1, { key: "k" });
    expect(await queue.enqueue(db, "a", 2, { key: "k" })).toEqual({ id: first.id, inserted: false });
    expect(await queue.enqueue(db, "b", 1, { key: "k" })).toMatchObject({ inserted: true });
    for (const key of ["K", "k ", " k", "k\u0301", "\u212a", "%", "_", "k'", '"k"', "\\"]) {
      expect(await queue.enqueue(db, "a", 1, { key })).toMatchObject({ inserted: true });
      expect(await queue.enqueue(db, "a", 1, { key })).toMatchObject({ inserted: false });
    }
  });

  test("keeps the first payload and options; a duplicate changes nothing", async () => {
    const first = await queue.enqueue(db, "a", 1, { key: "k", priority: 3 });
    await queue.enqueue(db, "a", 2, { key: "k", priority: 0, keyHolds: "until-started", runAt: new Date(0) });
    const { rows } = await database.pool.query(
      "select j.id::text, payload, priority, k.release_on from queue.jobs j join queue.job_keys k on k.job_id = j.id",
    );
    expect(rows).toEqual([{ id: first.id, payload: 1, priority: 3, release_on: null }]);
  });

  test("without jobs of its own touches no other job", async () => {
    await queue.enqueueMany(db, [
      { kind: "a", payload: 1 },
      { kind: "a", payload: 1 },
    ]);
    const { rows } = await database.pool.query("select count(*)::int as count from queue.job_keys");
    expect(rows).toEqual([{ count: 0 }]);
  });
});

describe("held for a time", () => {
  test("which is 30 days when nothing is said", async () => {
    await enqueue(undefined, "default");
    await enqueue("90s", "given");
    const { rows } = await database.pool.query(
      "select key, extract(epoch from expires_at - clock_timestamp())::float8 as seconds from queue.job_keys order by key",
    );
    expect(rows).toEqual([
      { key: "default", seconds: about(2_592_000) },
      { key: "given", seconds: about(90) },
    ]);
  });

  test("it is held whatever becomes of the job: done, dead or gone", async () => {
    const { id } = await enqueue("1d");
    await complete(await claimOne());
    expect(await enqueue("1d")).toEqual({ id, inserted: false });
    const dead = await enqueue("1d", "dead");
    await put("dead")(await claimOne());
    expect(await enqueue("1d", "dead")).toEqual({ id: dead.id, inserted: false });
    const fleeting = await queue.enqueue(db, "fleeting", 1, { key: "k" });
    const [claimed] = await worker.claim({ kinds: ["fleeting"] });
    if (claimed === undefined) throw new Error("Nothing was due.");
    await worker.complete([claimed], null);
    expect(await queue.enqueue(db, "fleeting", 1, { key: "k" })).toEqual({ id: fleeting.id, inserted: false });
  });

  test("and after it the next one inserts, and holds for its own time", async () => {
    const first = await enqueue("1d");
    await database.pool.query("update queue.job_keys set expires_at = clock_timestamp()");
    const second = await enqueue("2d");
    expect(second.inserted).toBe(true);
    expect(second.id).not.toBe(first.id);
    expect(await enqueue("1d")).toEqual({ id: second.id, inserted: false });
    const { rows } = await database.pool.query(
      "select job_id::text, expires_at > clock_timestamp() + interval '47 hours' as long from queue.job_keys",
    );
    expect(rows).toEqual([{ job_id: second.id, long: true }]);
  });

  test("eight racers for a key whose time is over: one inserts, all get its id", async () => {
    for (let round = 0; round < 20; round++) {
      await enqueue("1d", `k${round}`);
      await database.pool.query("update queue.job_keys set expires_at = clock_timestamp()");
      const results = await Promise.all(Array.from({ length: 8 }, () => enqueue("1d", `k${round}`)));
      expect(new Set(results.map(({ id }) => id)).size).toBe(1);
      expect(results.filter(({ inserted }) => inserted)).toHaveLength(1);
    }
  });
});

describe('"until-started"', () => {
  test("B62: holds while the job waits; from the claim on the next one inserts, once", async () => {
    const first = await enqueue("until-started");
    expect(await enqueue("until-started")).toEqual({ id: first.id, inserted: false });
    const running = await claimOne();
    const results = [];
    for (let n = 0; n < 5; n++) results.push(await enqueue("until-started"));
    expect(results.map(({ inserted }) => inserted)).toEqual([true, false, false, false, false]);
    expect(new Set(results.map(({ id }) => id)).size).toBe(1);
    await complete(running);
    expect(await enqueue("until-started")).toEqual({ id: results[0]?.id, inserted: false });
  });

  test.each<[name: string, after: (claimed: Claimed) => Promise<unknown>]>([
    ["a retry", put("queued", 60_000)],
    ["a snooze", put("queued", 60_000, 1)],
    ["a death", put("dead")],
    ["a completion", complete],
  ])("is not held again after %s: the job was started", async (_name, after) => {
    const first = await enqueue("until-started");
    await after(await claimOne());
    const second = await enqueue("until-started");
    expect(second.inserted).toBe(true);
    expect(second.id).not.toBe(first.id);
  });

  test("a cancelled job that was never started holds no longer", async () => {
    const { id } = await enqueue("until-started");
    await queue.admin(db).cancel(id);
    expect(await enqueue("until-started")).toMatchObject({ inserted: true });
  });

  test("holds while the job is delayed", async () => {
    const first = await queue.enqueue(db, "a", 1, { key: "k", keyHolds: "until-started", delay: "1h" });
    expect(await enqueue("until-started")).toEqual({ id: first.id, inserted: false });
  });
});

describe('"until-ended"', () => {
  test("B62: holds through running, retries and snoozes: never two of one key", async () => {
    const { id } = await enqueue("until-ended");
    const duplicate = async () => expect(await enqueue("until-ended")).toEqual({ id, inserted: false });
    await duplicate();
    const running = await claimOne();
    for (let n = 0; n < 5; n++) await duplicate();
    await put("queued")(running);
    await duplicate();
    await put("queued", 0, 1)(await claimOne());
    await duplicate();
    const { rows } = await database.pool.query("select count(*)::int as count from queue.jobs");
    expect(rows).toEqual([{ count: 1 }]);
  });

  test.each<[name: string, end: () => Promise<unknown>]>([
    ["done", async () => complete(await claimOne())],
    ["done, and not kept", async () => worker.complete([await claimOne()], null)],
    ["dead", async () => put("dead")(await claimOne())],
    ["cancelled", async () => queue.admin(db).cancel((await queue.admin(db).jobs()).items[0]?.id ?? "")],
    ["cancelled while it ran", async () => queue.admin(db).cancel((await claimOne()).id)],
  ])("is free when the job is %s", async (_name, end) => {
    const first = await enqueue("until-ended");
    await end();
    const second = await enqueue("until-ended");
    expect(second.inserted).toBe(true);
    expect(second.id).not.toBe(first.id);
    expect(await enqueue("until-ended")).toEqual({ id: second.id, inserted: false });
  });

  test("in a batch a free key and a held one are told apart", async () => {
    const held = await enqueue("until-ended", "held");
    await enqueue("until-ended", "free");
    await queue.admin(db).cancel((await queue.admin(db).jobs({ limit: 1 })).items[0]?.id ?? "");
    const results = await queue.enqueueMany(db, [
      { kind: "a", payload: 1, options: { key: "free", keyHolds: "until-ended" } },
      { kind: "a", payload: 1, options: { key: "held", keyHolds: "until-ended" } },
      { kind: "a", payload: 1, options: { key: "free", keyHolds: "until-ended" } },
    ]);
    expect(results.map(({ inserted }) => inserted)).toEqual([true, false, false]);
    expect(results[1]?.id).toBe(held.id);
    expect(results[2]?.id).toBe(results[0]?.id);
  });
});
