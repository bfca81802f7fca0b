import { describe, expect, test } from "vitest";
import { createQueue, job, QueueError } from "@queue/core";
import { createGate, untilAborted } from "./support/gate.js";
import { useWorkers } from "./support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({
  jobs: {
    timed: job({ timeout: 200, backoff: { base: 1 } }),
    short: job({ timeout: 50, backoff: { base: 1 }, maxAttempts: 2 }),
    other: job(),
  },
});

describe("B97: an attempt that takes longer than its timeout", () => {
  test("has its signal aborted at the time, and fails with the timeout when it honours it", async () => {
    let abortedAfterMs = Number.NaN;
    const { events } = await workers.start({
      queue,
      handlers: {
        timed: async (_job, { signal }) => {
          const begunAt = performance.now();
          const reason = await untilAborted(signal);
          abortedAfterMs = performance.now() - begunAt;
          throw reason;
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "timed", null, { maxAttempts: 1 });
    const { error } = await events.until("job.dead");
    expect(QueueError.is(error, "ATTEMPT_TIMEOUT") && error).toMatchObject({ jobId: id, timeoutMs: 200, isRetryable: true });
    expect(abortedAfterMs).toBeGreaterThanOrEqual(150);
    expect(abortedAfterMs).toBeLessThan(250);
    expect((await workers.job(id)).last_error).toContain("200 ms");
  });

  test("fails with the timeout whatever the handler makes of it: another error, or a result", async () => {
    const { events } = await workers.start({
      queue,
      handlers: {
        timed: async ({ attempt }, { signal }) => {
          await untilAborted(signal);
          if (attempt === 1) throw new Error("something else");
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "timed", null, { maxAttempts: 2 });
    const [failed, dead] = await Promise.all([events.until("job.failed"), events.until("job.dead")]);
    for (const { error } of [failed, dead]) expect(QueueError.is(error, "ATTEMPT_TIMEOUT")).toBe(true);
    expect((await workers.job(id)).errors.map(({ message }) => message)).toEqual([
      expect.stringContaining("200 ms"),
      expect.stringContaining("200 ms"),
    ]);
  });

  test("is not overlapped by the next one when the handler ignores its signal, and keeps its slot", async () => {
    let running = 0;
    let most = 0;
    const first = createGate();
    const aborted: number[] = [];
    const { events } = await workers.start({
      queue,
      concurrency: 2,
      handlers: {
        short: async ({ attempt }, { signal }) => {
          most = Math.max(most, ++running);
          signal.addEventListener("abort", () => aborted.push(attempt));
          if (attempt === 1) await first.pass();
          running -= 1;
        },
        other: () => {
          most = Math.max(most, running + 1);
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "short", null);
    await first.reached;
    await queue.enqueueMany(
      workers.db,
      Array.from({ length: 20 }, () => ({ kind: "other", payload: null })),
    );
    await events.until("job.completed", 20);
    await expect.poll(() => aborted, { timeout: 15_000 }).toEqual([1]);
    expect(await workers.job(id)).toMatchObject({ status: "running", attempts: 1 });
    expect(running).toBe(1);
    first.open();
    await events.untilFor(id, "job.completed");
    expect(most).toBe(2);
    expect(events.typesFor(id)).toEqual(["job.started", "job.failed", "job.started", "job.completed"]);
  });

  test("is waited for as long as a lease, and then tried again beside the handler that goes on", async () => {
    const first = createGate();
    const { events } = await workers.start({
      queue,
      lease: 300,
      handlers: { short: ({ attempt }) => (attempt === 1 ? first.pass() : undefined) },
    });
    const { id } = await queue.enqueue(workers.db, "short", null);
    await events.untilFor(id, "job.completed");
    expect(events.typesFor(id)).toEqual(["job.started", "job.failed", "job.started", "job.completed"]);
    expect(await workers.job(id)).toMatchObject({ status: "done", attempts: 2 });
    first.open();
  });

  test("says nothing more when the handler that was not waited for fails later", async () => {
    const first = createGate();
    const { events, logger } = await workers.start({
      queue,
      lease: 300,
      handlers: {
        short: async ({ attempt }) => {
          if (attempt > 1) return;
          await first.pass();
          throw new Error("too late");
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "short", null);
    await events.untilFor(id, "job.completed");
    first.open();
    const { id: next } = await queue.enqueue(workers.db, "short", null, { lane: "next" });
    await events.until("job.started", 3);
    expect(events.typesFor(id)).toEqual(["job.started", "job.failed", "job.started", "job.completed"]);
    expect(JSON.stringify(logger.lines)).not.toContain("too late");
    expect(next).not.toBe(id);
  });
});

describe("an attempt that ends in time", () => {
  test("is not aborted afterwards", async () => {
    const signals: AbortSignal[] = [];
    const { events } = await workers.start({
      queue,
      handlers: { short: (_job, { signal }) => void signals.push(signal), other: () => {} },
    });
    await queue.enqueue(workers.db, "short", null);
    await events.until("job.completed");
    await queue.enqueue(workers.db, "other", null, { delay: 150 });
    await events.until("job.completed", 2);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  });
});
