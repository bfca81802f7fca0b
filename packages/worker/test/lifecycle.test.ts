import { describe, expect, test } from "vitest";
import { createQueue, job, QueueError } from "@queue/core";
import type { Listener } from "@queue/core/adapter";
import { Session } from "../src/lifecycle/session.js";
import { resolveWorkerOptions } from "../src/worker-options.js";
import { clientListener } from "./support/client-listener.js";
import { createGate, untilAborted } from "./support/gate.js";
import { recordEvents } from "./support/recorded-events.js";
import { recordLogger } from "./support/recorded-logger.js";
import { countTimers } from "./support/count-timers.js";
import { useWorkers } from "./support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({ jobs: { long: job({ backoff: { base: "1h" } }), timed: job({ timeout: "1h" }) } });

describe("start", () => {
  test("resolves once the worker has claimed, and listens", async () => {
    const { id } = await queue.enqueue(workers.db, "long", null);
    const listener = clientListener(workers.database.url);
    const { worker, events } = workers.create({ queue, pollInterval: "60s", listener, handlers: { long: () => {} } });
    await worker.start();
    expect(events.all.map(({ type }) => type).slice(0, 2)).toEqual(["worker.listening", "job.started"]);
    expect(events.of("worker.started")).toHaveLength(1);
    await events.untilFor(id, "job.completed");
    await queue.enqueue(workers.db, "long", null);
    await events.until("job.completed", 2);
  });

  test("twice is once", async () => {
    const { worker, events } = workers.create({ queue, handlers: { long: () => {} } });
    await Promise.all([worker.start(), worker.start()]);
    await worker.start();
    expect(events.of("worker.started")).toHaveLength(1);
    expect(await workers.sql("select from queue.workers")).toHaveLength(1);
  });

  test("tells operators what the worker does", async () => {
    await workers.start({ queue, lanes: ["default", "mail"], handlers: { long: () => {}, timed: undefined } });
    expect(await workers.sql("select kinds, lanes, pid from queue.workers")).toEqual([
      { kinds: ["long"], lanes: ["default", "mail"], pid: process.pid },
    ]);
  });

  test("rejects when the listener does, and leaves nothing open", async () => {
    const listener = { adapter: "broken", listen: () => Promise.reject(new Error("no such host")) };
    const { worker } = workers.create({ queue, listener, handlers: { long: () => {} } });
    await expect(worker.start()).rejects.toThrow("no such host");
    await worker.stop();
    expect(await workers.sql("select from queue.workers")).toEqual([]);
  });
});

describe("stop", () => {
  test("before start does nothing, and the worker starts all the same", async () => {
    const { worker, events } = workers.create({ queue, handlers: { long: () => {} } });
    await worker.stop();
    await worker.start();
    await queue.enqueue(workers.db, "long", null);
    await events.until("job.completed");
  });

  test("twice resolves twice, after the same stop", async () => {
    const gate = createGate();
    const { worker, events } = await workers.start({ queue, handlers: { long: () => gate.pass() } });
    await queue.enqueue(workers.db, "long", null);
    await gate.reached;
    const both = Promise.all([worker.stop(), worker.stop({ grace: 0 })]);
    gate.open();
    await both;
    await worker.stop();
    expect(events.of("worker.stopped")).toHaveLength(1);
    expect(events.of("job.completed")).toHaveLength(1);
  });

  test("during start ends it: nothing is claimed", async () => {
    const { worker, events } = workers.create({ queue, handlers: { long: () => {} } });
    const started = worker.start();
    await worker.stop();
    await started;
    expect(events.all.map(({ type }) => type)).toEqual(["worker.stopped"]);
    await queue.enqueue(workers.db, "long", null);
    expect(await workers.sql("select from queue.workers")).toEqual([]);
  });

  test("during start: a listener that connects only then changes nothing, and is closed", async () => {
    const connecting = createGate();
    const closed = createGate();
    const listener: Listener = {
      adapter: "test",
      async listen(_channel, { onListening }) {
        await connecting.pass();
        onListening();
        return { close: () => closed.pass() };
      },
    };
    const { worker, events } = workers.create({ queue, listener, handlers: { long: () => {} } });
    const started = worker.start();
    await connecting.reached;
    await worker.stop();
    await started;
    connecting.open();
    await closed.reached;
    expect(events.all.map(({ type }) => type)).toEqual(["worker.stopped"]);
  });

  test("and start again works, and again", async () => {
    const { worker, events } = workers.create({ queue, handlers: { long: () => {} } });
    for (let round = 1; round <= 3; round++) {
      await worker.start();
      await queue.enqueue(workers.db, "long", null);
      await events.until("job.completed", round);
      await worker.stop();
    }
    expect(events.of("worker.stopped")).toHaveLength(3);
  });

  test("and start at the same time begin one after the other", async () => {
    const { worker, events } = await workers.start({ queue, handlers: { long: () => {} } });
    await Promise.all([worker.stop(), worker.start()]);
    expect(events.all.map(({ type }) => type)).toEqual(["worker.started", "worker.stopped", "worker.started"]);
    await queue.enqueue(workers.db, "long", null);
    await events.until("job.completed");
  });

  test("is the last word, also when a start was asked for while the worker was stopping", async () => {
    const { worker, events } = await workers.start({ queue, handlers: { long: () => {} } });
    const others = [worker.stop(), worker.start()];
    await worker.stop();
    await Promise.all(others);
    expect(events.all.map(({ type }) => type)).toEqual(["worker.started", "worker.stopped", "worker.started", "worker.stopped"]);
    expect(await workers.sql("select from queue.workers")).toEqual([]);
  });

  test.each([["soon"], [-1], [Number.NaN], [2 ** 31]])("refuses a grace that is no time: %j", async (grace) => {
    const { worker } = await workers.start({ queue, handlers: {} });
    await expect(worker.stop({ grace: grace as number })).rejects.toSatisfy(
      (error) => QueueError.is(error, "INVALID_OPTION") && error.option === "grace",
    );
  });

  test("is what `await using` does at the end of the block", async () => {
    const created = workers.create({ queue, handlers: { long: () => {} } });
    {
      await using worker = created.worker;
      await worker.start();
      await queue.enqueue(workers.db, "long", null);
      await created.events.until("job.completed");
    }
    expect(created.events.all.at(-1)?.type).toBe("worker.stopped");
  });
});

describe("run", () => {
  test("resolves when somebody stops the worker, as it does after a signal", async () => {
    const { worker, events } = workers.create({ queue, handlers: { long: () => {} } });
    const listeners = () => [process.listenerCount("SIGTERM"), process.listenerCount("SIGINT")];
    const before = listeners();
    const running = worker.run();
    await events.until("worker.started");
    expect(listeners()).toEqual(before.map((count) => count + 1));
    await worker.stop();
    await running;
    expect(listeners()).toEqual(before);
  });

  test("rejects when the worker cannot start, and takes its signal handlers away", async () => {
    const before = process.listenerCount("SIGTERM");
    const elsewhere = createQueue({ schema: "elsewhere", jobs: { long: job() } });
    const { worker } = workers.create({ queue: elsewhere, handlers: { long: () => {} } });
    await expect(worker.run()).rejects.toSatisfy((error) => QueueError.is(error, "SCHEMA_MISSING"));
    expect(process.listenerCount("SIGTERM")).toBe(before);
  });
});

describe("B93: a worker that has stopped", () => {
  /** A worker whose timers are counted. */
  function open(handlers: Parameters<typeof workers.create<typeof queue.jobs>>[0]["handlers"], options: object = {}) {
    const clock = countTimers();
    const events = recordEvents();
    const logger = recordLogger();
    const session = new Session(
      resolveWorkerOptions({ queue, db: workers.db, handlers, logger, pollInterval: "60s", onEvent: events.onEvent, ...options } as never),
      "w",
      1,
      clock,
      () => {},
    );
    return { session, clock, events };
  }

  test("has no timer left", async () => {
    const { session, clock } = open({ long: () => {} }, { listener: clientListener(workers.database.url) });
    await session.start();
    expect(clock.pending).toBeGreaterThan(0);
    expect(await session.close(1_000)).toBe(true);
    expect(clock.pending).toBe(0);
  });

  test("has none either for what failed or snoozed while it stopped, or was due later", async () => {
    const gate = createGate();
    const { session, clock, events } = open({
      long: async () => {
        await gate.pass();
        throw new Error("again in an hour");
      },
    });
    await queue.enqueue(workers.db, "long", null);
    await queue.enqueue(workers.db, "long", null, { delay: "1h" });
    await session.start();
    await gate.reached;
    const closed = session.close(10_000);
    gate.open();
    await closed;
    expect(events.of("job.failed")).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  test("has none either for a handler that outlasted its grace, or for its timeout", async () => {
    const gate = createGate();
    const { session, clock } = open({ timed: () => gate.pass() });
    await queue.enqueue(workers.db, "timed", null);
    await session.start();
    await gate.reached;
    expect(await session.close(0)).toBe(false);
    gate.open();
    await expect.poll(() => clock.pending).toBe(0);
  });

  test("has none either for an attempt that had ended, but was not recorded, when its signal was aborted", async () => {
    const { session, clock, events } = open({ timed: () => {} });
    const client = await workers.database.pool.connect();
    try {
      await queue.enqueue(workers.db, "timed", null);
      await client.query("begin; lock table queue.jobs_archive in access exclusive mode");
      await session.start();
      await events.until("job.started");
      await workers.sqlUntil("select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()");
      const closed = session.close(0);
      await workers.sqlUntil("select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()");
      await client.query("rollback");
      await closed;
    } finally {
      client.release();
    }
    expect(clock.pending).toBe(0);
    expect(events.typesFor("1")).toEqual(["job.started", "job.completed"]);
  });

  test("says nothing any more, and uses the pool no more: all is told before it has stopped", async () => {
    const gate = createGate();
    const { session, events } = open({
      long: async (_job, { signal }) => {
        await gate.pass();
        signal.throwIfAborted();
      },
    });
    const { id } = await queue.enqueue(workers.db, "long", null);
    await session.start();
    await gate.reached;
    await workers.sql("update queue.jobs set worker = 'thief', locked_until = now() + interval '1 h'");
    const client = await workers.database.pool.connect();
    try {
      // How the attempt ended is looked up in the archive, which takes its time.
      await client.query("begin; lock table queue.jobs_archive in access exclusive mode");
      const closed = session.close(10_000);
      gate.open();
      await workers.sqlUntil("select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()");
      await client.query("rollback");
      await closed;
    } finally {
      client.release();
    }
    expect(events.typesFor(id)).toEqual(["job.started", "job.lease-lost"]);
    expect(events.all.at(-1)?.type).toBe("worker.stopped");
  });
});

test("a handler's signal is not aborted by a stop that it does not outlast", async () => {
  const gate = createGate();
  let isAborted: boolean | undefined;
  const { worker, events } = await workers.start({
    queue,
    handlers: {
      long: async (_job, { signal }) => {
        void untilAborted(signal).then(() => (isAborted = true));
        await gate.pass();
        isAborted ??= signal.aborted;
      },
    },
  });
  await queue.enqueue(workers.db, "long", null);
  await gate.reached;
  const stopped = worker.stop();
  gate.open();
  await stopped;
  expect(isAborted).toBe(false);
  expect(events.of("job.completed")).toHaveLength(1);
});
