import { describe, expect, test } from "vitest";
import { createQueue, job, PermanentError, QueueError, RetryAfterError } from "@queue/core";
import { snooze } from "@queue/worker";
import { until } from "./support/until.js";
import { useWorkers } from "./support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({
  jobs: {
    plain: job<{ n: number }>({ backoff: { base: 1 } }),
    slow: job<{ retryAfter: boolean }>({ backoff: { base: "10s", cap: "5m" } }),
    overflowing: job({ backoff: { base: "1s", cap: "1d" }, maxAttempts: 2_000 }),
    unkept: job({ keep: false }),
    quick: job({ backoff: { base: 1, cap: 2 } }),
  },
});

describe("a handler that returns", () => {
  test("has done its job, once, and the archive has it", async () => {
    let runs = 0;
    const { events } = await workers.start({ queue, handlers: { plain: () => void runs++ } });
    const { id } = await queue.enqueue(workers.db, "plain", { n: 1 });
    await events.until("job.completed");
    expect(await workers.job(id)).toMatchObject({ status: "done", attempts: 1, claims: 1, last_error: null, errors: [] });
    expect(await workers.sql("select from queue.jobs")).toEqual([]);
    expect(runs).toBe(1);
  });

  test("leaves nothing of a kind that is not kept", async () => {
    const { events } = await workers.start({ queue, handlers: { unkept: () => {} } });
    await queue.enqueue(workers.db, "unkept", null);
    await events.until("job.completed");
    expect(await workers.jobs()).toEqual([]);
  });
});

describe("a handler that throws", () => {
  test("has failed an attempt: what it threw is kept, and the job is tried again", async () => {
    const { events } = await workers.start({
      queue,
      handlers: {
        plain: ({ attempt }) => {
          if (attempt < 3) throw new RangeError(`no ${attempt}`);
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "plain", { n: 1 });
    await events.until("job.completed");
    const { status, attempts, errors } = await workers.job(id);
    expect([status, attempts]).toEqual(["done", 3]);
    expect(errors).toMatchObject([
      { attempt: 1, name: "RangeError", message: "no 1" },
      { attempt: 2, name: "RangeError", message: "no 2" },
    ]);
    for (const { stack, at } of errors) {
      expect(stack).toContain("outcomes.test.ts");
      expect(Math.abs(Date.parse(at) - Date.now())).toBeLessThan(60_000);
    }
  });

  test("does so synchronously or not, and the worker goes on", async () => {
    const { events } = await workers.start({
      queue,
      handlers: {
        plain: ({ payload: { n } }) => {
          if (n === 1) throw new Error("at once");
          return n === 2 ? Promise.reject(new Error("later")) : undefined;
        },
      },
    });
    for (const n of [1, 2, 3]) await queue.enqueue(workers.db, "plain", { n }, { maxAttempts: 1 });
    await Promise.all([events.until("job.dead", 2), events.until("job.completed")]);
  });

  test("B50: is tried again after full jitter: a thousand that fail together come back spread evenly below the ceiling", async () => {
    const delays: number[] = [];
    const { events } = await workers.start({
      queue,
      concurrency: 100,
      onEvent: (event) => {
        if (event.type === "job.failed" && event.attempt === 1) delays.push(event.retryAt.getTime() - Date.now());
      },
      handlers: {
        slow: ({ payload }) => {
          if (payload.retryAfter) throw new RetryAfterError("60s");
          throw new Error("down");
        },
      },
    });
    await queue.enqueueMany(
      workers.db,
      Array.from({ length: 1_000 }, () => ({ kind: "slow", payload: { retryAfter: false } })),
    );
    await until(() => delays.length === 1_000, "a thousand failures");
    expect(Math.min(...delays)).toBeLessThan(1_000);
    // The database's clock, as far as this process knows it.
    expect(Math.max(...delays)).toBeLessThanOrEqual(10_250);
    // A fair draw is outside of these bounds about once in two million runs.
    const buckets = Array.from(
      { length: 10 },
      (_, second) => delays.filter((delay) => Math.min(9, Math.floor(delay / 1_000)) === second).length,
    );
    for (const count of buckets) expect(count > 50 && count < 160, buckets.join()).toBe(true);

    const later = await queue.enqueue(workers.db, "slow", { retryAfter: true });
    await events.untilFor(later.id, "job.failed");
    expect(Number((await workers.job(later.id)).run_at)).toBeGreaterThan(Date.now() + 50_000);
  });

  test("B49: on attempt 1100 it is as harmless as on the first", async () => {
    const { id } = await queue.enqueue(workers.db, "overflowing", null);
    await workers.sql("update queue.jobs set attempts = 1099");
    const { events } = await workers.start({
      queue,
      handlers: {
        overflowing: () => {
          throw new Error("still down");
        },
      },
    });
    await events.until("job.failed");
    const { status, attempts, run_at } = await workers.job(id);
    expect([status, attempts]).toEqual(["queued", 1_100]);
    expect(run_at.getTime()).toBeGreaterThan(Date.now() - 10_000);
    expect(run_at.getTime()).toBeLessThan(Date.now() + 86_400_000);
  });

  test.each([1, 2, 3])("dies after exactly %i attempts, when it may have no more", async (maxAttempts) => {
    const attempts: number[] = [];
    const { events } = await workers.start({
      queue,
      handlers: {
        plain: ({ attempt }) => {
          attempts.push(attempt);
          throw new Error("always");
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "plain", { n: 1 }, { maxAttempts });
    await events.until("job.dead");
    const other = await queue.enqueue(workers.db, "plain", { n: 2 }, { maxAttempts: 1 });
    await events.untilFor(other.id, "job.dead");
    expect(await workers.job(id)).toMatchObject({ status: "dead", attempts: maxAttempts, last_error: "always", locked_until: null });
    expect((await workers.job(id)).errors).toHaveLength(maxAttempts);
    expect(attempts).toEqual([...Array.from({ length: maxAttempts }, (_, n) => n + 1), 1]);
  });

  test("keeps the last twenty failures", async () => {
    const { events } = await workers.start({
      queue,
      handlers: {
        quick: ({ attempt }) => {
          throw new Error(`failure ${attempt}`);
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "quick", null, { maxAttempts: 23 });
    await events.until("job.dead");
    expect((await workers.job(id)).errors.map(({ message }) => message)).toEqual(Array.from({ length: 20 }, (_, n) => `failure ${n + 4}`));
  });
});

describe("PermanentError", () => {
  test("is the end at the first attempt", async () => {
    const cause = new Error("404");
    const { events } = await workers.start({
      queue,
      handlers: {
        plain: () => {
          throw new PermanentError("no such customer", { cause });
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "plain", { n: 1 });
    const { error } = await events.until("job.dead");
    expect(error).toBeInstanceOf(PermanentError);
    const { status, attempts, last_error, errors } = await workers.job(id);
    expect([status, attempts, last_error]).toEqual(["dead", 1, "no such customer"]);
    expect(errors[0]?.stack).toContain("Caused by: Error: 404");
  });

  test("B57: is recognised from a second copy of the package, and after a structured clone", async () => {
    const path = "../../core/src/errors/permanent-error.js?second-copy";
    const copy = (await import(/* @vite-ignore */ path)) as { PermanentError: typeof PermanentError };
    expect(copy.PermanentError).not.toBe(PermanentError);
    const cloned: unknown = structuredClone(Object.assign(new Error("cloned"), { name: "PermanentError" }));
    const thrown: unknown[] = [new copy.PermanentError("copied"), Object.assign(cloned as Error, { name: "PermanentError" })];
    const { events } = await workers.start({
      queue,
      handlers: {
        plain: ({ payload }) => {
          throw thrown[payload.n];
        },
      },
    });
    for (const n of [0, 1]) await queue.enqueue(workers.db, "plain", { n }, { maxAttempts: 5 });
    await events.until("job.dead", 2);
    expect((await workers.jobs()).map(({ status, attempts, last_error }) => [status, attempts, last_error])).toEqual([
      ["dead", 1, "copied"],
      ["dead", 1, "cloned"],
    ]);
    expect(thrown.every((error) => error instanceof PermanentError)).toBe(true);
  });
});

describe("RetryAfterError", () => {
  test("names the delay, spends the attempt, and keeps its message and cause", async () => {
    const { events } = await workers.start({
      queue,
      handlers: {
        plain: () => {
          throw new RetryAfterError("1m", { message: "rate limit", cause: new Error("429") });
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "plain", { n: 1 }, { maxAttempts: 5 });
    const { retryAt } = await events.until("job.failed");
    const { status, attempts, run_at, errors } = await workers.job(id);
    expect([status, attempts]).toEqual(["queued", 1]);
    expect(errors).toMatchObject([
      { name: "RetryAfterError", message: "rate limit", stack: expect.stringContaining("Caused by: Error: 429") },
    ]);
    expect(Math.abs(run_at.getTime() - Date.parse(errors[0]?.at ?? "") - 60_000)).toBeLessThan(5);
    expect(Math.abs(retryAt.getTime() - run_at.getTime())).toBeLessThan(1_000);
  });

  test("is a death like any other on the last attempt", async () => {
    const { events } = await workers.start({
      queue,
      handlers: {
        plain: () => {
          throw new RetryAfterError(1);
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "plain", { n: 1 }, { maxAttempts: 2 });
    await events.until("job.dead");
    expect(await workers.job(id)).toMatchObject({ status: "dead", attempts: 2 });
  });
});

describe("snooze", () => {
  test("puts the job back and gives its attempt back, as often as it likes", async () => {
    let rounds = 0;
    const attempts: number[] = [];
    const { events } = await workers.start({
      queue,
      handlers: {
        plain: async ({ attempt }) => {
          attempts.push(attempt);
          return ++rounds < 5 ? snooze(1) : undefined;
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "plain", { n: 1 }, { maxAttempts: 1 });
    await events.until("job.completed");
    expect(attempts).toEqual([1, 1, 1, 1, 1]);
    expect(await workers.job(id)).toMatchObject({ status: "done", attempts: 1, claims: 5, errors: [], last_error: null });
    expect(events.of("job.snoozed")).toHaveLength(4);
  });

  test("names the time", async () => {
    const { events } = await workers.start({ queue, handlers: { plain: () => snooze("10m") } });
    const { id } = await queue.enqueue(workers.db, "plain", { n: 1 });
    const { runAt } = await events.until("job.snoozed");
    const { run_at, status, attempts } = await workers.job(id);
    expect([status, attempts]).toEqual(["queued", 0]);
    for (const at of [runAt, run_at]) expect(Math.abs(at.getTime() - Date.now() - 600_000)).toBeLessThan(10_000);
  });

  test("is refused at once when it is not a duration: the attempt fails, and says why", async () => {
    const { events } = await workers.start({ queue, handlers: { plain: () => snooze("soon" as never) } });
    await queue.enqueue(workers.db, "plain", { n: 1 }, { maxAttempts: 1 });
    const { error } = await events.until("job.dead");
    expect(QueueError.is(error, "INVALID_OPTION") && error.option).toBe("snooze");
  });

  test("is not taken from what a handler returns by mistake", async () => {
    const { events } = await workers.start({ queue, handlers: { plain: () => ({ snoozed: true }) as never } });
    await queue.enqueue(workers.db, "plain", { n: 1 });
    await events.until("job.completed");
  });
});
