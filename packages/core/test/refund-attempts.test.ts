import { createQueue, job } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import type { Kysely } from "kysely";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { kyselyOn } from "./support/kysely-on.js";
import { workerOn } from "./support/worker-on.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job<number>({ maxAttempts: 2 }) } });
let db: Kysely<object>;

beforeAll(() => {
  db = kyselyOn<object>(database.pool);
});
beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.jobs_archive");
});

const cutOff = () => workerOn(db, { worker: "cut off" });

/** Claimed by the worker that is cut off, and returned by a sweep of another, so often. */
async function sweptAway(times: number): Promise<string> {
  const { id } = await queue.enqueue(db, "a", 1);
  for (let n = 0; n < times; n++) {
    await cutOff().claim({ leaseMs: -1 });
    await workerOn(db, { worker: "other" }).sweep();
  }
  return id;
}

async function refund(id: string, attempt: number, worker = "cut off"): Promise<string[]> {
  const { run, statements } = workerOn(db);
  const rows = await run(statements.refundAttempts, { ids: `{${id}}`, attempts: `{${attempt}}`, worker });
  return rows.map((row) => row.id);
}

const record = (id: string) => queue.admin(db).job(id);

describe("an attempt that a sweep has spent and that never began", () => {
  test("is given back, once, and its entry leaves the history", async () => {
    const id = await sweptAway(1);
    expect(await record(id)).toMatchObject({ status: "queued", attempts: 1, errors: [{ name: "LeaseExpired", attempt: 1 }] });
    expect(await refund(id, 1)).toEqual([id]);
    expect(await record(id)).toMatchObject({ status: "queued", attempts: 0, errors: [] });
    expect(await refund(id, 1)).toEqual([]);
    expect(await record(id)).toMatchObject({ attempts: 0 });
  });

  test("brings a job back that died for want of it, due now", async () => {
    const id = await sweptAway(2);
    expect(await record(id)).toMatchObject({ status: "dead", attempts: 2 });
    expect(await refund(id, 2)).toEqual([id]);
    expect(await record(id)).toMatchObject({ status: "queued", attempts: 1, errors: [{ attempt: 1 }] });
    expect(await workerOn(db).claim()).toMatchObject([{ id, attempts: 2 }]);
  });

  test("is given back while another worker runs the job, which goes on", async () => {
    const id = await sweptAway(1);
    const other = workerOn(db, { worker: "other" });
    const [claimed] = await other.claim();
    expect(await refund(id, 1)).toEqual([id]);
    expect(await record(id)).toMatchObject({ status: "running", attempts: 1 });
    expect(claimed).toMatchObject({ attempts: 2, claims: 2 });
    // The other one takes it for the last attempt, and it is not.
    expect(await other.requeue({ [id]: { fence: 2, status: "exhausted", delayMs: 0, attemptsBack: 0 } })).toEqual([id]);
    expect(await record(id)).toMatchObject({ status: "queued", attempts: 1 });
    await other.claim();
    expect(await other.requeue({ [id]: { fence: 3, status: "exhausted", delayMs: 0, attemptsBack: 0 } })).toEqual([id]);
    expect(await record(id)).toMatchObject({ status: "dead", attempts: 2 });
  });

  test("is not that of another worker, another number, or a failure of the handler", async () => {
    const id = await sweptAway(1);
    expect(await refund(id, 1, "other")).toEqual([]);
    expect(await refund(id, 2)).toEqual([]);
    const worker = cutOff();
    await worker.claim();
    const error = { name: "Error", message: "failed" };
    await worker.requeue({ [id]: { fence: 2, status: "queued", delayMs: 0, attemptsBack: 0, error } });
    expect(await refund(id, 2)).toEqual([]);
    expect(await record(id)).toMatchObject({ attempts: 2 });
  });

  test("of a job that is done or cancelled changes nothing", async () => {
    const id = await sweptAway(1);
    const other = workerOn(db, { worker: "other" });
    await other.complete(await other.claim());
    expect(await refund(id, 1)).toEqual([]);
    expect(await record(id)).toMatchObject({ status: "done", attempts: 2 });
  });
});

describe("the attempts of a worker that sweeps have spent", () => {
  test("are all that it was the last to have, of jobs that are there, and nobody else's", async () => {
    const done = await sweptAway(1);
    const other = workerOn(db, { worker: "other" });
    await other.complete(await other.claim());
    const twice = await sweptAway(2);
    await queue.enqueue(db, "a", 1);
    await other.claim({ leaseMs: -1 });
    await other.sweep();
    const { run, statements } = workerOn(db);
    const expired = await run(statements.findExpiredAttempts, { worker: "cut off" });
    expect(expired.toSorted((a, b) => a.attempt - b.attempt)).toEqual([
      { id: twice, attempt: 1 },
      { id: twice, attempt: 2 },
    ]);
    expect(await record(done)).toMatchObject({ status: "done" });
  });
});

describe("what a worker does not know", () => {
  test("is not released any more by a statement that comes late: it may run by now", async () => {
    await queue.enqueue(db, "a", 1);
    const worker = cutOff();
    const [claimed] = await worker.claim();
    const release = (until: string) => worker.run(worker.statements.releaseUnknownJobs, { worker: "cut off", known: "{}", until });
    const nowMicros = Date.now() * 1_000;
    expect(await release(String(nowMicros - 60_000_000))).toEqual([]);
    expect(await release(String(nowMicros + 60_000_000))).toEqual([{ id: claimed?.id }]);
  });
});
