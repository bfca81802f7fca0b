/**
 * Two transactions, statement by statement, where the order decides. A statement that has to wait is seen waiting in
 * pg_stat_activity before the other transaction ends, so that nothing depends on speed. What packages/core/test has is not
 * repeated: two enqueues of one key, a completion against a cancel, a sweep that meets a settle, a redrive of the job that has
 * the key, the cleaning that meets a take-over.
 */
import { useTestDatabase } from "@queue/test-database";
import { beforeEach, describe, expect, test } from "vitest";
import type { Settlement } from "../src/inputs.js";
import { cancel, pause, redrive, resume, retry } from "../src/steps/operator-steps.js";
import { enqueue } from "../src/steps/producer-steps.js";
import { expireLease } from "../src/steps/time-steps.js";
import { claim, deleteEnded, heartbeat, settle, sweep } from "../src/steps/worker-steps.js";
import { openScene } from "./support/scene.js";

const database = useTestDatabase();
const ends = ["commit", "rollback"] as const;
const job = { kind: "index", lane: "default", key: null, hold: null, maxAttempts: 2, isKept: true, isDelayed: false } as const;
const keyed = { ...job, key: "x", hold: "ended" } as const;
const as = (outcome: Settlement["outcome"]): Settlement => ({ outcome, isDelayed: false, isOwn: false });
const own = (settlement: Settlement): Settlement => ({ ...settlement, isOwn: true });
const [done, failed, dead, snoozed, released] = [as("done"), as("failed"), as("dead"), as("snoozed"), as("released")];

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.jobs_archive, queue.job_keys, queue.lanes");
});

describe("a claim and a cancel", () => {
  test("the cancel waits, and ends the job that runs: nothing that its worker does is recorded", async () => {
    await using scene = await openScene(database.url);
    await scene.two(enqueue([job]));
    await scene.begin();
    const held = (await scene.one(claim("w1", 1))).map((one) => ({ ...one, worker: "w1" }));
    const cancelled = await scene.twoWaits(cancel(1));
    await scene.end("commit");
    expect(await cancelled.answer).toBe("cancelled");
    expect(await scene.two(settle("w1", held, done))).toEqual([]);
    expect(await scene.two(heartbeat("w1", held))).toEqual([{ job: 1, extended: false, held: false }]);
    expect(await scene.table()).toEqual(["job 1: index in default, cancelled, attempt 1 of 2, claim 1 by w1"]);
  });

  test("the cancel waits, and ends the job that was not claimed after all", async () => {
    await using scene = await openScene(database.url);
    await scene.two(enqueue([job]));
    await scene.begin();
    await scene.one(claim("w1", 1));
    const cancelled = await scene.twoWaits(cancel(1));
    await scene.end("rollback");
    expect(await cancelled.answer).toBe("cancelled");
    expect(await scene.table()).toEqual(["job 1: index in default, cancelled, never claimed"]);
  });

  test("the claim does not wait: it leaves the job out, and takes it when the cancel was rolled back", async () => {
    await using scene = await openScene(database.url);
    await scene.two(enqueue([job, job]));
    await scene.begin();
    await scene.one(cancel(1));
    expect(await scene.two(claim("w1", 2))).toMatchObject([{ job: 2 }]);
    await scene.end("rollback");
    expect(await scene.two(claim("w1", 2))).toMatchObject([{ job: 1 }]);
  });
});

describe("a settle and a cancel", () => {
  test.each([
    [failed, "attempt 1 of 2, claim 1 by w1, 1 failures"],
    [dead, "attempt 1 of 2, claim 1 by w1, 1 failures"],
    [snoozed, "attempt 0 of 2, claim 1 by w1"],
    [released, "attempt 1 of 2, claim 1 by w1"],
  ])("$outcome: the cancel waits, and ends the job as the settle left it", async (settlement, left) => {
    await using scene = await openScene(database.url);
    await scene.two(enqueue([job]));
    const held = await scene.claimed("w1");
    await scene.begin();
    expect(await scene.one(settle("w1", held, settlement))).toEqual([1]);
    const cancelled = await scene.twoWaits(cancel(1));
    await scene.end("commit");
    expect(await cancelled.answer).toBe("cancelled");
    expect(await scene.table()).toEqual([`job 1: index in default, cancelled, ${left}`]);
  });

  test.each([failed, dead, snoozed, released])("$outcome: the settle waits, and is refused", async (settlement) => {
    await using scene = await openScene(database.url);
    await scene.two(enqueue([job]));
    const held = await scene.claimed("w1");
    await scene.begin();
    await scene.one(cancel(1));
    const settled = await scene.twoWaits(settle("w1", held, own(settlement)));
    await scene.end("commit");
    expect(await settled.answer).toEqual([]);
    expect(await scene.table()).toEqual(["job 1: index in default, cancelled, attempt 1 of 2, claim 1 by w1"]);
  });

  test.each([done, failed, dead, snoozed, released])(
    "$outcome: the settle waits, and is recorded when the cancel was rolled back",
    async (settlement) => {
      await using scene = await openScene(database.url);
      await scene.two(enqueue([job]));
      const held = await scene.claimed("w1");
      await scene.begin();
      await scene.one(cancel(1));
      const settled = await scene.twoWaits(settle("w1", held, own(settlement)));
      await scene.end("rollback");
      expect(await settled.answer).toEqual([1]);
    },
  );
});

describe("a batch of outcomes and a row that somebody keeps locked", () => {
  test.each([done, failed, dead, snoozed, released])("$outcome: the others are recorded, without waiting", async (settlement) => {
    await using scene = await openScene(database.url);
    await scene.two(enqueue([job, job, job]));
    const held = [await scene.claimed("w1"), await scene.claimed("w1"), await scene.claimed("w1")].flat();
    await scene.begin();
    await scene.one(cancel(2));
    expect(await scene.two(settle("w1", held, settlement))).toEqual([1, 3]);
    expect(await scene.two(heartbeat("w1", held.slice(1, 2)))).toEqual([{ job: 2, extended: false, held: true }]);
    await scene.end("rollback");
    expect(await scene.two(settle("w1", held.slice(1, 2), settlement))).toEqual([2]);
  });
});

describe("a sweep and a late settle", () => {
  test.each([done, failed, dead, snoozed, released])(
    "$outcome: the settle waits, and is refused: the next attempt is another's",
    async (settlement) => {
      await using scene = await openScene(database.url);
      await scene.two(enqueue([job]));
      const late = await scene.claimed("w1");
      await scene.two(expireLease(1));
      await scene.begin();
      expect(await scene.one(sweep(undefined))).toEqual([{ job: 1, status: "queued" }]);
      const settled = await scene.twoWaits(settle("w1", late, own(settlement)));
      await scene.end("commit");
      expect(await settled.answer).toEqual([]);
      const again = await scene.claimed("w2");
      expect(again).toMatchObject([{ job: 1, claims: 2, attempts: 2 }]);
      expect(await scene.two(settle("w1", late, settlement))).toEqual([]);
      expect(await scene.two(settle("w2", again, done))).toEqual([1]);
      expect(await scene.table()).toEqual(["job 1: index in default, done, attempt 2 of 2, claim 2 by w2, 1 failures"]);
    },
  );

  test("the settle waits, and is recorded when the sweep was rolled back: the fence decides, not the clock", async () => {
    await using scene = await openScene(database.url);
    await scene.two(enqueue([job]));
    const late = await scene.claimed("w1");
    await scene.two(expireLease(1));
    await scene.begin();
    await scene.one(sweep(undefined));
    const settled = await scene.twoWaits(settle("w1", late, own(done)));
    await scene.end("rollback");
    expect(await settled.answer).toEqual([1]);
    expect(await scene.table()).toEqual(["job 1: index in default, done, attempt 1 of 2, claim 1 by w1"]);
  });
});

describe("a sweep and a heartbeat", () => {
  test.each([
    ["commit", "lease live", []],
    ["rollback", "lease over", [{ job: 1, status: "queued" }]],
  ] as const)("the sweep does not wait; after the %s of the heartbeat it finds the %s", async (end, lease, swept) => {
    await using scene = await openScene(database.url);
    await scene.two(enqueue([job]));
    const held = await scene.claimed("w1");
    await scene.two(expireLease(1));
    await scene.begin();
    expect(await scene.one(heartbeat("w1", held))).toEqual([{ job: 1, extended: true, held: true }]);
    expect(await scene.two(sweep(undefined))).toEqual([]);
    await scene.end(end);
    expect(await scene.table()).toEqual([`job 1: index in default, running, attempt 1 of 2, claim 1 by w1, ${lease}`]);
    expect(await scene.two(sweep(undefined))).toEqual(swept);
  });

  test.each([
    ["commit", "is lost", { extended: false, held: false }],
    ["rollback", "is extended", { extended: true, held: true }],
  ] as const)(
    "the heartbeat does not wait, and believes that the job is held; after the %s of the sweep the lease %s",
    async (end, _what, then) => {
      await using scene = await openScene(database.url);
      await scene.two(enqueue([job]));
      const held = await scene.claimed("w1");
      await scene.two(expireLease(1));
      await scene.begin();
      await scene.one(sweep(undefined));
      expect(await scene.two(heartbeat("w1", held))).toEqual([{ job: 1, extended: false, held: true }]);
      await scene.end(end);
      expect(await scene.two(heartbeat("w1", held))).toEqual([{ job: 1, ...then }]);
    },
  );
});

describe("a redrive of a job whose key another one had last, and an enqueue that takes the key over", () => {
  /** Job 1 is dead; job 2 had its key after it, and has ended. */
  async function openFree() {
    const scene = await openScene(database.url);
    await scene.two(enqueue([keyed]));
    await scene.two(settle("w1", await scene.claimed("w1"), dead));
    await scene.two(enqueue([keyed]));
    await scene.two(settle("w1", await scene.claimed("w1"), done));
    return scene;
  }

  test.each([retry, () => redrive({ kind: "index", lane: undefined, limit: undefined, dryRun: false })])(
    "the redrive waits for the enqueue: its job stays dead",
    async (step) => {
      await using scene = await openFree();
      await scene.begin();
      expect(await scene.one(enqueue([keyed]))).toEqual([{ job: 3, inserted: true }]);
      const redriven = await scene.twoWaits<unknown>(step(1));
      await scene.end("commit");
      expect(await redriven.answer).toEqual(step === retry ? "KEY_HELD" : { count: 0, conflicts: [1] });
      expect(await scene.table()).toEqual([
        "job 1: index in default with key x, dead, attempt 1 of 2, claim 1 by w1, 1 failures",
        "job 2: index in default with key x, done, attempt 1 of 2, claim 1 by w1",
        "job 3: index in default with key x, queued, never claimed",
        "key index/x: job 3, held until ended",
      ]);
    },
  );

  test("the redrive waits for an enqueue whose job has ended with it: its job comes back, and has its key", async () => {
    await using scene = await openFree();
    await scene.begin();
    await scene.one(enqueue([keyed]));
    await scene.one(cancel(3));
    const retried = await scene.twoWaits(retry(1));
    await scene.end("commit");
    expect(await retried.answer).toBe("queued");
    expect(await scene.two(enqueue([keyed]))).toEqual([{ job: 1, inserted: false }]);
  });

  test("the redrive waits for an enqueue that is rolled back: its job comes back, and has its key", async () => {
    await using scene = await openFree();
    await scene.begin();
    await scene.one(enqueue([keyed]));
    const retried = await scene.twoWaits(retry(1));
    await scene.end("rollback");
    expect(await retried.answer).toBe("queued");
    expect(await scene.two(enqueue([keyed]))).toEqual([{ job: 1, inserted: false }]);
  });

  test.each([
    ["commit", "merged into the job that came back", { job: 1, inserted: false }],
    ["rollback", "inserted", { job: 3, inserted: true }],
  ] as const)("the enqueue waits for the redrive: after its %s it is %s", async (end, _what, enqueued) => {
    await using scene = await openFree();
    await scene.begin();
    expect(await scene.one(retry(1))).toBe("queued");
    const second = await scene.twoWaits(enqueue([keyed]));
    await scene.end(end);
    expect(await second.answer).toEqual([enqueued]);
  });
});

describe("a cleaning that is rolled back, and an enqueue that takes the key over", () => {
  test("the enqueue waits, and takes it over", async () => {
    await using scene = await openScene(database.url);
    await scene.two(enqueue([keyed]));
    await scene.two(cancel(1));
    await scene.begin();
    expect(await scene.one(deleteEnded())).toBe(1);
    const second = await scene.twoWaits(enqueue([keyed]));
    await scene.end("rollback");
    expect(await second.answer).toEqual([{ job: 2, inserted: true }]);
    expect(await scene.two(deleteEnded())).toBe(0);
    expect(await scene.two(enqueue([keyed]))).toEqual([{ job: 2, inserted: false }]);
  });
});

describe("a pause and a claim", () => {
  test("the claim does not wait: it takes from the lane until the pause is committed, and what it took goes on", async () => {
    await using scene = await openScene(database.url);
    await scene.two(enqueue([job, job]));
    await scene.begin();
    await scene.one(pause("default"));
    const held = await scene.claimed("w1");
    expect(held).toMatchObject([{ job: 1 }]);
    await scene.end("commit");
    expect(await scene.claimed("w1")).toEqual([]);
    expect(await scene.two(heartbeat("w1", held))).toEqual([{ job: 1, extended: true, held: true }]);
    expect(await scene.two(settle("w1", held, done))).toEqual([1]);
  });

  test("the pause does not wait for a claim", async () => {
    await using scene = await openScene(database.url);
    await scene.two(enqueue([job]));
    await scene.begin();
    const held = (await scene.one(claim("w1", 1))).map((one) => ({ ...one, worker: "w1" }));
    await scene.two(pause("default"));
    await scene.end("commit");
    expect(await scene.two(settle("w1", held, done))).toEqual([1]);
  });

  test("the claim takes nothing until the resume is committed", async () => {
    await using scene = await openScene(database.url);
    await scene.two(enqueue([job]));
    await scene.two(pause("default"));
    await scene.begin();
    await scene.one(resume("default"));
    expect(await scene.claimed("w1")).toEqual([]);
    await scene.end("commit");
    expect(await scene.claimed("w1")).toMatchObject([{ job: 1 }]);
  });

  test.each(ends)("a pause waits for a resume, and whether that is a %s, the lane is paused", async (end) => {
    await using scene = await openScene(database.url);
    await scene.two(pause("default"));
    await scene.begin();
    await scene.one(resume("default"));
    const paused = await scene.twoWaits(pause("default"));
    await scene.end(end);
    await paused.answer;
    expect(await scene.table()).toEqual(["lane default: paused"]);
  });
});
