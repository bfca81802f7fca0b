import { describe, expect, test } from "vitest";
import { createQueue, job, RetryAfterError } from "@queue/core";
import { snooze } from "@queue/worker";
import { clientListener } from "./support/client-listener.js";
import { createGate } from "./support/gate.js";
import { useWorkers } from "./support/use-workers.js";

/**
 * Nobody waits for a poll here: the next one is a minute away. What is due later is started by a timer, and may be so late.
 */
const pollInterval = "60s";
const toleranceMs = 150;

const workers = useWorkers();
const queue = createQueue({ jobs: { a: job<{ n: number }>(), b: job(), retried: job<{ delayMs: number }>(), snoozed: job() } });

/** How late the job's last attempt was started, by the database's clock. */
async function lateMs(id: string, dueAt: Date): Promise<number> {
  const { started_at } = await workers.job(id);
  return Number(started_at) - Number(dueAt);
}

describe("with a listener, and the next poll a minute away", () => {
  const start = (handlers: Partial<Parameters<typeof workers.start<typeof queue.jobs>>[0]["handlers"]>) =>
    workers.start({ queue, pollInterval, listener: clientListener(workers.database.url), handlers });

  test("a delayed job starts when it is due", async () => {
    const { events } = await start({ a: () => {} });
    const { id } = await queue.enqueue(workers.db, "a", { n: 1 }, { delay: 400 });
    const { run_at } = await workers.job(id);
    await events.until("job.completed");
    expect(await lateMs(id, run_at)).toBeGreaterThanOrEqual(0);
    expect(await lateMs(id, run_at)).toBeLessThan(toleranceMs);
  });

  test("of several delayed jobs, each starts when it is due, whatever the order in which they came", async () => {
    const { events } = await start({ a: () => {}, b: () => {} });
    const due = new Map<string, Date>();
    for (const delay of [700, 300, 500, 100]) {
      const { id } = await queue.enqueue(workers.db, "a", { n: delay }, { delay });
      due.set(id, (await workers.job(id)).run_at);
    }
    await events.until("job.completed", 4);
    for (const [id, dueAt] of due) expect(await lateMs(id, dueAt)).toBeLessThan(toleranceMs);
  });

  test("jobs that were there before the worker start when they are due", async () => {
    const { id } = await queue.enqueue(workers.db, "a", { n: 1 }, { delay: 400 });
    const { run_at } = await workers.job(id);
    const { events } = await start({ a: () => {} });
    await events.until("job.completed");
    expect(await lateMs(id, run_at)).toBeLessThan(toleranceMs);
  });

  test("retries start when they are due, each after its own delay", async () => {
    const { events } = await start({
      retried: ({ attempt, payload }) => {
        if (attempt === 1) throw new RetryAfterError(payload.delayMs);
      },
    });
    const ids = [];
    for (const delayMs of [200, 800, 500]) ids.push((await queue.enqueue(workers.db, "retried", { delayMs })).id);
    await events.until("job.failed", 3);
    const due = new Map(await Promise.all(ids.map(async (id) => [id, (await workers.job(id)).run_at] as const)));
    await events.until("job.completed", 3);
    for (const [id, dueAt] of due) expect(await lateMs(id, dueAt)).toBeLessThan(toleranceMs);
  });

  test("a snoozed job starts when it is due, also in a lane and at a priority that no kind has by default", async () => {
    let rounds = 0;
    const inFirst = createGate();
    const { events } = await start({
      a: () => {},
      snoozed: async () => {
        rounds += 1;
        if (rounds > 1) return undefined;
        await inFirst.pass();
        return snooze(300);
      },
    });
    const { id } = await queue.enqueue(workers.db, "snoozed", null, { lane: "special", priority: 9 });
    await inFirst.reached;
    // A look around while the job runs finds nothing in its lane.
    await queue.enqueue(workers.db, "a", { n: 1 }, { delay: 50 });
    await events.until("job.completed");
    inFirst.open();
    const { runAt } = await events.until("job.snoozed");
    expect(runAt.getTime()).toBeGreaterThan(Date.now());
    const { run_at } = await workers.job(id);
    await events.untilFor(id, "job.completed");
    expect(await lateMs(id, run_at)).toBeLessThan(toleranceMs);
  });
});

describe("B70: a time beyond the longest timer of Node", () => {
  test("is no reason to start a job early, or to spin", async () => {
    const { events } = await workers.start({
      queue,
      pollInterval,
      listener: clientListener(workers.database.url),
      handlers: { a: () => {}, b: () => {} },
    });
    const { id } = await queue.enqueue(workers.db, "b", null, { delay: 2 ** 31 });
    const before = process.cpuUsage();
    await queue.enqueue(workers.db, "a", { n: 1 }, { delay: 500 });
    await events.until("job.completed");
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(250);
    expect(await workers.job(id)).toMatchObject({ status: "queued", attempts: 0, claims: 0 });
  });
});
