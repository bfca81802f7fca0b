import { describe, expect, test } from "vitest";
import { createQueue, job, QueueError } from "@queue/core";
import { snooze } from "@queue/worker";
import { createGate } from "./support/gate.js";
import { openTcpProxy } from "./support/tcp-proxy.js";
import { useWorkers } from "./support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({
  jobs: {
    a: job<{ n: number }>(),
    chain: job<{ left: number }>({ lane: "chain" }),
    again: job({ backoff: { base: 0, cap: 0 }, maxAttempts: 3 }),
    later: job({ backoff: { base: "1h" } }),
  },
});

describe("calls of runUntilIdle that follow one another", () => {
  test("see what was enqueued before each of them", async () => {
    const gate = createGate();
    const { worker, events } = workers.create({
      queue,
      handlers: { a: ({ payload }) => (payload.n === 1 ? gate.pass() : undefined), later: () => {} },
    });
    await queue.enqueue(workers.db, "a", { n: 1 });
    const first = worker.runUntilIdle();
    await gate.reached;
    const { id } = await queue.enqueue(workers.db, "later", null);
    const second = worker.runUntilIdle();
    gate.open();
    await Promise.all([first, second]);
    expect(events.typesFor(id)).toEqual(["job.started", "job.completed"]);
  });

  test("end with a stop, and those that wait do not begin", async () => {
    const gate = createGate();
    const { worker, events } = workers.create({ queue, handlers: { a: () => gate.pass() } });
    await queue.enqueue(workers.db, "a", { n: 1 });
    const calls = [worker.runUntilIdle(), worker.runUntilIdle()];
    await gate.reached;
    await worker.stop({ grace: 0 });
    await Promise.all(calls);
    expect(events.of("worker.stopped")).toHaveLength(1);
    expect((await workers.jobs()).map(({ status }) => status)).toEqual(["queued"]);
    gate.open();
  });
});

describe("runUntilIdle", () => {
  test("works until nothing is due, and leaves what is due later", async () => {
    await queue.enqueueMany(
      workers.db,
      Array.from({ length: 300 }, (_, n) => ({ kind: "a", payload: { n } })),
    );
    const { id } = await queue.enqueue(workers.db, "a", { n: 1 }, { delay: "1h" });
    const { worker, events } = workers.create({ queue, handlers: { a: () => {} } });
    await worker.runUntilIdle();
    expect(events.of("job.completed")).toHaveLength(300);
    expect(await workers.job(id)).toMatchObject({ status: "queued", claims: 0 });
    expect(await workers.sql("select from queue.jobs where status = 'running'")).toEqual([]);
    expect(events.all.at(-1)?.type).toBe("worker.stopped");
  });

  test("resolves at once when there is nothing", async () => {
    const { worker, events } = workers.create({ queue, handlers: { a: () => {} } });
    await worker.runUntilIdle();
    expect(events.all.map(({ type }) => type)).toEqual(["worker.stopped"]);
  });

  test("does the jobs that its jobs enqueue, to the last", async () => {
    await queue.enqueue(workers.db, "chain", { left: 20 });
    const { worker, events } = workers.create({
      queue,
      handlers: {
        chain: async ({ payload: { left } }) => {
          if (left > 0) await queue.enqueue(workers.db, "chain", { left: left - 1 }, { lane: `chain ${left}`, priority: 9 });
        },
      },
    });
    await worker.runUntilIdle();
    expect(events.of("job.completed")).toHaveLength(21);
  });

  test("tries again what failed and is due again, and leaves what is due later", async () => {
    await queue.enqueue(workers.db, "again", null);
    await queue.enqueue(workers.db, "later", null);
    const fail = () => {
      throw new Error("no");
    };
    const { worker, events } = workers.create({ queue, handlers: { again: fail, later: fail } });
    await worker.runUntilIdle();
    expect((await workers.jobs()).map(({ kind, status, attempts }) => [kind, status, attempts])).toEqual([
      ["again", "dead", 3],
      ["later", "queued", 1],
    ]);
    expect(events.of("job.failed")).toHaveLength(3);
  });

  test("waits for what runs, however long, and for snoozes that are over by then", async () => {
    const gate = createGate();
    let rounds = 0;
    const { worker, events } = workers.create({
      queue,
      lease: 300,
      handlers: {
        a: () => gate.pass(),
        later: () => (++rounds < 3 ? snooze(0) : undefined),
      },
    });
    const { id } = await queue.enqueue(workers.db, "a", { n: 1 });
    await queue.enqueue(workers.db, "later", null);
    const idle = worker.runUntilIdle();
    await gate.reached;
    await workers.untilRunningFor(id, 600);
    gate.open();
    await idle;
    expect((await workers.jobs()).map(({ status, attempts }) => [status, attempts])).toEqual([
      ["done", 1],
      ["done", 1],
    ]);
    expect(events.of("job.snoozed")).toHaveLength(2);
  });

  test("can be called again, and a worker can be started afterwards", async () => {
    const { worker, events } = workers.create({ queue, handlers: { a: () => {} } });
    for (let round = 1; round <= 3; round++) {
      await queue.enqueue(workers.db, "a", { n: round });
      await worker.runUntilIdle();
      expect(events.of("job.completed")).toHaveLength(round);
    }
    await worker.start();
    await queue.enqueue(workers.db, "a", { n: 4 });
    await events.until("job.completed", 4);
  });

  test("is refused while the worker is started", async () => {
    const { worker } = await workers.start({ queue, handlers: { a: () => {} } });
    await expect(worker.runUntilIdle()).rejects.toSatisfy((error) => QueueError.is(error, "INVALID_OPTION"));
    await worker.stop();
    await worker.runUntilIdle();
  });

  test("keeps to its ceilings, and leaves no lane out", async () => {
    await queue.enqueueMany(
      workers.db,
      Array.from({ length: 60 }, (_, n) => ({ kind: "a", payload: { n }, options: { lane: `lane ${n % 3}` } }) as const),
    );
    let running = 0;
    let most = 0;
    const { worker, events } = workers.create({
      queue,
      concurrency: 5,
      lanes: { "lane 0": { concurrency: 1 }, "lane 1": { concurrency: 1 }, "lane 2": { concurrency: 1 } },
      handlers: {
        a: async () => {
          most = Math.max(most, ++running);
          await workers.sql("select 1");
          running -= 1;
        },
      },
    });
    await worker.runUntilIdle();
    expect(events.of("job.completed")).toHaveLength(60);
    expect(most).toBeLessThanOrEqual(3);
  });

  test("returns what a dead worker has left, first", async () => {
    const { id } = await queue.enqueue(workers.db, "a", { n: 1 });
    await workers.sql(
      "update queue.jobs set status = 'running', attempts = 1, claims = 1, worker = 'dead', locked_until = now() - interval '1 s'",
    );
    const { worker } = workers.create({ queue, handlers: { a: () => {} } });
    await worker.runUntilIdle();
    expect(await workers.job(id)).toMatchObject({ status: "done", attempts: 2 });
  });

  test("does not overlook a job that was enqueued while a look that cannot see it was under way", async () => {
    const proxy = await openTcpProxy(workers.database.url);
    try {
      const gates = [createGate(), createGate()];
      const { worker, events } = workers.create({
        queue,
        db: workers.open({ connectionString: proxy.url, max: 3 }),
        handlers: { a: ({ payload }) => gates[payload.n]?.pass(), later: () => {} },
      });
      const [first, second] = await queue.enqueueMany(
        workers.db,
        [0, 1].map((n) => ({ kind: "a", payload: { n } })),
      );
      const idle = worker.runUntilIdle();
      await Promise.all(gates.map(({ reached }) => reached));
      proxy.holdAnswersFrom("idempotency_key"); // only a claim answers with this column
      gates[0]?.open();
      await events.untilFor(first?.id ?? "", "job.completed");
      await proxy.untilHeld();
      await queue.enqueue(workers.db, "later", null);
      gates[1]?.open();
      await events.untilFor(second?.id ?? "", "job.completed");
      proxy.letAnswersThrough();
      await idle;
      expect((await workers.jobs()).map(({ kind, status }) => [kind, status])).toEqual([
        ["a", "done"],
        ["a", "done"],
        ["later", "done"],
      ]);
    } finally {
      await proxy.close();
    }
  });

  test("uses a slot that becomes free while it is looking", async () => {
    const proxy = await openTcpProxy(workers.database.url);
    try {
      const gates = [createGate(), createGate(), createGate()];
      const { worker, events } = workers.create({
        queue,
        db: workers.open({ connectionString: proxy.url, max: 3 }),
        concurrency: 3,
        handlers: { a: ({ payload }) => gates[payload.n]?.pass(), later: () => {} },
      });
      await queue.enqueueMany(
        workers.db,
        [0, 1, 2].map((n) => ({ kind: "a", payload: { n } })),
      );
      const idle = worker.runUntilIdle();
      await Promise.all(gates.map(({ reached }) => reached));
      proxy.holdAnswersFrom("idempotency_key");
      gates[0]?.open();
      await proxy.untilHeld();
      const { id } = await queue.enqueue(workers.db, "later", null);
      gates[1]?.open();
      await new Promise<void>((resolve) => setImmediate(resolve));
      proxy.letAnswersThrough();
      await events.untilFor(id, "job.completed");
      gates[2]?.open();
      await idle;
    } finally {
      await proxy.close();
    }
  });

  test("rejects when the database is away, and when the tables are missing", async () => {
    const elsewhere = createQueue({ schema: "elsewhere", jobs: { a: job() } });
    const { worker } = workers.create({ queue: elsewhere, handlers: { a: () => {} } });
    await expect(worker.runUntilIdle()).rejects.toSatisfy((error) => QueueError.is(error, "SCHEMA_MISSING"));
    const nowhere = workers.create({ queue, db: workers.open({ connectionString: "postgres://127.0.0.1:1/none" }), handlers: {} });
    await expect(nowhere.worker.runUntilIdle()).rejects.toThrow(/ECONNREFUSED/);
  });
});
