import { createQueue, job } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import { beforeEach, describe, expect, test } from "vitest";
import { kyselyOn } from "../support/kysely-on.js";
import { openSession } from "../support/session.js";
import { rejectionOf } from "../support/thrown-by.js";
import { functionsOn } from "./support/functions-on.js";

const database = useTestDatabase();
const { claim, enqueue, enqueueMany, job: find, rows, valueOf } = functionsOn(() => database.pool);
const queue = createQueue({ jobs: { a: job<number>() } });

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.jobs_archive, queue.job_keys, queue.lanes");
});

describe("claim", () => {
  test("gives all that a worker needs to know, and holds the job by a lease", async () => {
    const { id } = await enqueue("a", { n: 1 }, { key: "k", lane: "mail", priority: 2, maxAttempts: 3 });
    const [claimed, ...others] = await claim({ lease: "1 minute" });
    expect(others).toEqual([]);
    expect(claimed).toEqual({
      id,
      kind: "a",
      lane: "mail",
      priority: 2,
      payload: { n: 1 },
      attempt: 1,
      max_attempts: 3,
      fence: 1,
      key: "k",
      created_at: expect.any(Date),
      run_at: expect.any(Date),
    });
    expect(await find(id)).toMatchObject({
      status: "running",
      worker: "w1",
      claims: 1,
      run_at: claimed?.run_at,
      created_at: claimed?.created_at,
    });
    const [lease] = await rows<{ seconds: string }>("select extract(epoch from locked_until - started_at) as seconds from queue.jobs");
    expect(Number(lease?.seconds)).toBeCloseTo(60, 1);
    expect(await claim()).toEqual([]);
  });

  test("takes what is due, first by priority, then by time, and no more than it was asked for", async () => {
    await enqueueMany([
      { kind: "a", payload: "later", options: { delay: "1h", priority: 0 } },
      { kind: "a", payload: "third", options: { priority: 9 } },
      { kind: "a", payload: "second", options: { lane: "other" } },
      { kind: "a", payload: "first", options: { priority: 1 } },
    ]);
    const batches = [await claim({ maxJobs: 1 }), await claim({ maxJobs: 1 }), await claim({ maxJobs: 5 })];
    expect(batches.map((batch) => batch.map(({ payload }) => payload))).toEqual([["first"], ["second"], ["third"]]);
  });

  test("leaves kinds that the worker has no handler for, and lanes that it does not serve", async () => {
    await enqueueMany([{ kind: "foreign" }, { kind: "a", options: { lane: "elsewhere" } }, { kind: "a", options: { lane: "mail" } }]);
    expect((await claim({ lanes: ["mail", "empty", "mail"] })).map(({ lane }) => lane)).toEqual(["mail"]);
    expect(await claim({ lanes: [] })).toEqual([]);
    expect((await claim({ kinds: ["a", "b"] })).map(({ lane }) => lane)).toEqual(["elsewhere"]);
    expect(await rows("select kind from queue.jobs where status = 'queued'")).toEqual([{ kind: "foreign" }]);
  });

  test("leaves paused lanes alone, asked for or not", async () => {
    await enqueue("a", 1, { lane: "mail" });
    await queue.admin(kyselyOn(database.pool)).pause("mail");
    expect(await claim()).toEqual([]);
    expect(await claim({ lanes: ["mail"] })).toEqual([]);
    await queue.admin(kyselyOn(database.pool)).resume("mail");
    expect(await claim()).toHaveLength(1);
  });

  test("never waits for who claims at the same moment, and takes none of theirs", async () => {
    await enqueueMany(Array.from({ length: 4 }, (_, n) => ({ kind: "a", payload: n })));
    await using rival = await openSession(database.url);
    await rival.query("begin");
    const theirs = await rival.query("select id from queue.claim(null, '{a}', 2, 'w2')");
    const ours = await claim();
    await rival.query("commit");
    expect(theirs).toHaveLength(2);
    expect(ours).toHaveLength(2);
    expect(new Set([...theirs.map(({ id }) => id as string), ...ours.map(({ id }) => id)]).size).toBe(4);
  });

  test("that is rolled back has claimed nothing", async () => {
    const { id } = await enqueue("a");
    await using session = await openSession(database.url);
    await session.query("begin");
    expect(await session.query("select id from queue.claim(null, '{a}', 1, 'w1')")).toEqual([{ id }]);
    await session.query("rollback");
    expect(await find(id)).toMatchObject({ status: "queued", attempts: 0, claims: 0 });
  });

  test("serves lanes of the same priority by turns, so that none starves the others", async () => {
    await enqueueMany(Array.from({ length: 80 }, (_, n) => ({ kind: "a", options: { lane: n % 2 === 0 ? "one" : "two" } })));
    const lanes: (string | undefined)[] = [];
    for (let n = 0; n < 40; n++) lanes.push((await claim({ maxJobs: 1 }))[0]?.lane);
    expect(new Set(lanes)).toEqual(new Set(["one", "two"]));
  });

  test.each<[given: string, message: string]>([
    ["null, null, 1, 'w'", "claim: kinds is missing: the kinds that the worker has handlers for, as an array."],
    ["null, '{}', 1, 'w'", "claim: kinds is missing: the kinds that the worker has handlers for, as an array."],
    ["null, '{a}', 0, 'w'", "claim: max_jobs must be a whole number from 1 to 1000, but is 0."],
    ["null, '{a}', null, 'w'", "claim: max_jobs must be a whole number from 1 to 1000, but is null."],
    ["null, '{a}', 1, null", "worker is missing: it must be a string of 1 to 200 bytes."],
    ["null, '{a}', 1, ''", 'worker must be a string of 1 to 200 bytes, but is "".'],
    ["null, '{a}', 1, 'w', '-1 s'", "lease must be from 100 ms to 86400000 ms, but is -00:00:01."],
    ["null, '{a}', 1, 'w', null", "lease is missing: it must be an interval."],
  ])("refuses (%s)", async (given, message) => {
    expect(await rejectionOf(rows(`select * from queue.claim(${given})`))).toMatchObject({ code: "22023", message });
  });
});

describe("next_due", () => {
  test("says how long there is nothing to do, of the lanes and kinds that are asked for", async () => {
    const nextDue = (lanes: string[] | null, kinds = ["a"]) =>
      valueOf<string | null>("extract(epoch from queue.next_due($1, $2))", [lanes, kinds]);
    expect(await nextDue(null)).toBeNull();
    await enqueueMany([
      { kind: "a", options: { delay: "1h", lane: "mail" } },
      { kind: "a", options: { delay: "2h" } },
      { kind: "foreign", options: { delay: "1m" } },
    ]);
    expect(Number(await nextDue(null))).toBeCloseTo(3_600, -1);
    expect(Number(await nextDue(["default"]))).toBeCloseTo(7_200, -1);
    expect(await nextDue(["nowhere"])).toBeNull();
  });
});
