import { useTestDatabase } from "@queue/test-database";
import { beforeEach, describe, expect, test } from "vitest";
import { leaseExpiredMessage } from "@queue/core/internal";
import { openSession, untilBlocked } from "../support/session.js";
import { rejectionOf } from "../support/thrown-by.js";
import { type ClaimedJob, functionsOn } from "./support/functions-on.js";

const database = useTestDatabase();
const { claim, complete, enqueue, expire, fail, job: find, rows, sweep, valueOf } = functionsOn(() => database.pool);

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.jobs_archive, queue.job_keys");
});

/** A job that is running, as its worker knows it. */
async function running(options: object = {}): Promise<ClaimedJob> {
  await enqueue("a", null, options);
  const [claimed] = await claim();
  if (claimed === undefined) throw new Error("There was nothing to claim.");
  return claimed;
}

const release = (job: ClaimedJob, started = true, worker = "w1") =>
  valueOf<boolean>("queue.release($1, $2, $3, $4)", [worker, job.id, job.fence, started]);
const snooze = (job: ClaimedJob, worker = "w1") => valueOf<boolean>("queue.snooze($1, $2, $3, '1 hour')", [worker, job.id, job.fence]);
const failWith = (job: ClaimedJob, more: string) => valueOf<string | null>(`queue.fail('w1', $1, $2, 'no', ${more})`, [job.id, job.fence]);
/** Seconds from the write to `run_at`, and whether the job is in the place it had. */
const delayOf = async ({ id }: ClaimedJob) =>
  Number((await rows<{ s: string }>(`select extract(epoch from run_at - clock_timestamp()) as s from queue.jobs where id = ${id}`))[0]?.s);

describe("complete", () => {
  test("moves the job to the archive, for as long as it is to be kept", async () => {
    const job = await running();
    expect(await complete(job)).toBe(true);
    expect(await find(job.id)).toMatchObject({ status: "done", attempts: 1, worker: "w1" });
    expect(await rows("select extract(day from keep_until - finished_at)::int as days from queue.jobs_archive")).toEqual([{ days: 7 }]);
    expect(await complete(job)).toBe(false);
  });

  test("keeps nothing of it when it is told null", async () => {
    const job = await running();
    expect(await valueOf("queue.complete('w1', $1, $2, keep => null)", [job.id, job.fence])).toBe(true);
    expect(await rows("select from queue.all_jobs")).toEqual([]);
  });

  test("waits for who has the row locked, so that its answer is final", async () => {
    const job = await running();
    await using other = await openSession(database.url);
    await other.query("begin");
    await other.query("select from queue.jobs for update");
    await using own = await openSession(database.url);
    const completing = own.query("select queue.complete('w1', $1, $2) as ok", [job.id, job.fence]);
    await untilBlocked(database.pool, own, completing);
    await other.query("commit");
    expect(await completing).toEqual([{ ok: true }]);
  });

  test("is undone with the transaction that it is in", async () => {
    const job = await running();
    await using session = await openSession(database.url);
    await session.query("begin");
    await session.query("select queue.complete('w1', $1, $2)", [job.id, job.fence]);
    await session.query("rollback");
    expect(await find(job.id)).toMatchObject({ status: "running" });
    expect(await complete(job)).toBe(true);
  });
});

describe("the fence", () => {
  const late: [name: string, call: (job: ClaimedJob) => Promise<unknown>, refused: unknown][] = [
    ["complete", complete, false],
    ["fail", fail, null],
    ["fail for good", (job) => failWith(job, "permanent => true"), null],
    ["snooze", snooze, false],
    ["release", release, false],
  ];

  test.each(late)("refuses a late %s after a sweep, and nothing changes", async (_name, call, refused) => {
    const job = await running();
    await expire();
    expect(await sweep()).toMatchObject([{ id: job.id, kind: "a", lane: "default", status: "queued", attempt: 1, worker: "w1" }]);
    const before = await find(job.id);
    expect(await call(job)).toBe(refused);
    expect(await find(job.id)).toEqual(before);
    const [next] = await claim({ worker: "w2" });
    expect(next).toMatchObject({ id: job.id, fence: 2, attempt: 2 });
    const during = await find(job.id);
    expect(await call(job)).toBe(refused);
    expect(await find(job.id)).toEqual(during);
    expect(await complete({ id: job.id, fence: 2 }, "w2")).toBe(true);
  });

  test.each(late)("refuses a %s of another worker with the same fence", async (_name, call, refused) => {
    const job = await running();
    await rows("update queue.jobs set worker = 'w2'");
    const before = await find(job.id);
    expect(await call(job)).toBe(refused);
    expect(await find(job.id)).toEqual(before);
  });
});

describe("fail", () => {
  test("tries again exactly as often as the job may be tried, then it is dead", async () => {
    const { id } = await enqueue("a", null, { maxAttempts: 3 });
    const answers: unknown[] = [];
    for (let attempt = 1; attempt <= 3; attempt++) {
      await rows("update queue.jobs set run_at = clock_timestamp()");
      const [claimed] = await claim();
      expect(claimed).toMatchObject({ id, attempt });
      if (claimed !== undefined) answers.push(await fail(claimed, `attempt ${attempt}`));
    }
    expect(answers).toEqual(["queued", "queued", "dead"]);
    expect(await claim()).toEqual([]);
    expect(await find(id)).toMatchObject({
      status: "dead",
      attempts: 3,
      last_error: "attempt 3",
      errors: [1, 2, 3].map((attempt) => ({ attempt, at: expect.any(String), worker: "w1", name: "Error", message: `attempt ${attempt}` })),
    });
  });

  test("is final when it is permanent, with name and stack as they were given", async () => {
    const job = await running();
    expect(await failWith(job, "error_name => 'KeyError', stack => 'at line 1', permanent => true")).toBe("dead");
    expect(await find(job.id)).toMatchObject({
      status: "dead",
      attempts: 1,
      errors: [{ name: "KeyError", message: "no", stack: "at line 1" }],
    });
  });

  test("waits as long as it is told", async () => {
    const job = await running();
    expect(await failWith(job, "retry_after => '1 hour'")).toBe("queued");
    expect(await delayOf(job)).toBeGreaterThan(3_590);
    expect(await delayOf(job)).toBeLessThanOrEqual(3_600);
  });

  test.each<[attempt: number, ceiling: number]>([
    [1, 100],
    [2, 200],
    [3, 400],
    [4, 500],
    [2_000, 500],
  ])("after attempt %i waits between nothing and %i s, anywhere in between", async (attempt, ceiling) => {
    const delays: number[] = [];
    const job = await running({ maxAttempts: 1_000_000 });
    for (let n = 0; n < 60; n++) {
      await rows("update queue.jobs set status = 'running', worker = 'w1', attempts = $1, claims = 1", [attempt]);
      await failWith(job, "backoff_base => '100 s', backoff_cap => '500 s'");
      delays.push(await delayOf(job));
    }
    // Sixty draws: all in one half come about once in 2^59.
    expect(Math.max(...delays)).toBeLessThanOrEqual(ceiling);
    expect(Math.min(...delays)).toBeGreaterThan(-10);
    expect(Math.max(...delays)).toBeGreaterThan(ceiling / 2);
    expect(Math.min(...delays)).toBeLessThan(ceiling / 2);
  });

  test("keeps texts short, and none empty", async () => {
    const job = await running();
    await valueOf("queue.fail('w1', $1, $2, '', error_name => '')", [job.id, job.fence]);
    expect(await find(job.id)).toMatchObject({ last_error: "Error" });
    const again = await running();
    await valueOf("queue.fail('w1', $1, $2, repeat('x', 100000), stack => repeat('y', 100000))", [again.id, again.fence]);
    const { errors } = (await find(again.id)) as { errors: { message: string; stack: string }[] };
    expect(errors.map(({ message, stack }) => [message.length, stack.length])).toEqual([[2_048, 3_800]]);
  });
});

describe("snooze and release", () => {
  test("a snooze puts the job off and gives the attempt back", async () => {
    const job = await running();
    expect(await snooze(job)).toBe(true);
    expect(await find(job.id)).toMatchObject({ status: "queued", attempts: 0, claims: 1, last_error: null });
    expect(await delayOf(job)).toBeGreaterThan(3_590);
  });

  test.each<[started: boolean, maxAttempts: number, attempts: number]>([
    [true, 8, 1],
    [false, 8, 0],
    [true, 1, 0],
  ])("a release (started: %s, of %i) keeps the job's place, and leaves %i attempts counted", async (started, maxAttempts, attempts) => {
    const job = await running({ maxAttempts });
    expect(await release(job, started)).toBe(true);
    expect(await find(job.id)).toMatchObject({ status: "queued", attempts, run_at: job.run_at, errors: [] });
  });
});

test("a job that kills its workers is dead after its last attempt", async () => {
  const job = await running({ maxAttempts: 1 });
  await expire();
  expect(await sweep()).toMatchObject([{ id: job.id, status: "dead" }]);
  expect(await find(job.id)).toMatchObject({ status: "dead", last_error: leaseExpiredMessage });
});

test.each<[call: string, message: string]>([
  ["queue.complete('w', null, 1)", "complete: id is missing."],
  ["queue.complete('w', 1, null)", "complete: fence is missing."],
  ["queue.complete(null, 1, 1)", "worker is missing: it must be a string of 1 to 200 bytes."],
  ["queue.complete('w', 1, 1, '401 days')", "keep must be from 0 ms to 34560000000 ms, but is 401 days."],
  ["queue.fail('w', 1, 1, 'e', retry_after => '-1 s')", "retry_after must be from 0 ms to 3155760000000 ms, but is -00:00:01."],
  ["queue.fail('w', 1, 1, 'e', backoff_base => null)", "backoff_base is missing: it must be an interval."],
  ["queue.fail(null, 1, 1, 'e')", "fail: worker is missing."],
  ["queue.snooze('w', 1, 1, '-1 s')", "delay must be from 0 ms to 3155760000000 ms, but is -00:00:01."],
  ["queue.snooze('w', 1, 1, null)", "delay is missing: it must be an interval."],
  ["queue.release('w', null, 1)", "release: id is missing."],
])("%s is refused", async (call, message) => {
  expect(await rejectionOf(rows(`select ${call}`))).toMatchObject({ code: "22023", message });
});
