import { describe, expect, test } from "vitest";
import { createQueue, job } from "@queue/core";
import type { Listener, ListenerEvents } from "@queue/core/adapter";
import type { Logger, Worker, WorkerEvent } from "@queue/worker";
import { useWorkers } from "../support/use-workers.js";
import { withDeadline } from "../support/with-deadline.js";
import { unhandledDuring } from "./support/unhandled-during.js";

const workers = useWorkers();
const queue = createQueue({ jobs: { works: job(), fails: job({ maxAttempts: 1 }) } });
const handlers = {
  works: () => {},
  fails: () => {
    throw new Error("as it was told");
  },
};

/** A listener whose parts a test replaces; it tells its events to `heard`. */
function listenerWith(close: () => Promise<void>, heard: (events: ListenerEvents) => void = () => {}): Listener {
  return {
    adapter: "test",
    listen: (_channel, events) => {
      events.onListening();
      heard(events);
      return Promise.resolve({ close });
    },
  };
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

describe("an onEvent that is asynchronous", () => {
  test("and rejects, is logged like one that throws, and ends no process", async () => {
    const told: string[] = [];
    const unhandled = await unhandledDuring(async () => {
      const { worker, logger } = await workers.start({
        queue,
        handlers,
        // oxlint-disable-next-line typescript/no-misused-promises -- applications without that rule write it
        onEvent: async ({ type }: WorkerEvent) => {
          await Promise.resolve();
          throw new Error(`cannot tell of ${type}`);
        },
      });
      await queue.enqueue(workers.db, "works", null);
      await workers.untilJobs("done", 1);
      await worker.stop();
      told.push(...logger.linesOf("error").map(({ message }) => message));
    });
    expect(unhandled).toEqual([]);
    expect(told.filter((message) => message.includes("onEvent"))).not.toEqual([]);
  });

  test("and never resolves, holds nothing up", async () => {
    // oxlint-disable-next-line typescript/no-misused-promises -- applications without that rule write it
    const { worker, events } = await workers.start({ queue, handlers, onEvent: () => new Promise<void>(() => {}) });
    await queue.enqueue(workers.db, "works", null);
    await events.until("job.completed");
    await worker.stop();
  });
});

describe("an onEvent that throws what cannot be shown", () => {
  test.each([
    ["a revoked proxy", revoked()],
    ["nothing", undefined],
    ["an object without a prototype", Object.create(null) as object],
  ])("%s changes nothing", async (_name, thrown) => {
    const { worker } = await workers.start({
      queue,
      handlers,
      onEvent: () => {
        throw thrown;
      },
    });
    await queue.enqueueMany(workers.db, [
      { kind: "works", payload: null },
      { kind: "fails", payload: null },
    ]);
    await workers.untilJobs("done", 1);
    await workers.untilJobs("dead", 1);
    await worker.stop();
    expect((await workers.jobs()).map(({ attempts }) => attempts)).toEqual([1, 1]);
  });
});

describe("a logger", () => {
  const lineless = (write: () => void): Logger => ({ debug: write, info: write, warn: write, error: write });

  test("that is asynchronous and rejects ends no process", async () => {
    const unhandled = await unhandledDuring(async () => {
      const { worker, events } = await workers.start({
        queue,
        // oxlint-disable-next-line typescript/no-misused-promises -- applications without that rule write it
        logger: lineless(async () => {
          await Promise.resolve();
          throw new Error("the disk is full");
        }),
        handlers: { ...handlers, works: (_job, { log }) => log.info({}, "working") },
      });
      await queue.enqueueMany(workers.db, [
        { kind: "works", payload: null },
        { kind: "fails", payload: null },
      ]);
      await events.until("job.dead");
      await events.until("job.completed");
      await worker.stop();
    });
    expect(unhandled).toEqual([]);
  });

  test("that throws, together with an onEvent that throws, changes nothing", async () => {
    const refuse = () => {
      throw new Error("closed");
    };
    const { worker } = await workers.start({
      queue,
      logger: lineless(refuse),
      onEvent: refuse,
      handlers: { ...handlers, works: (_job, { log }) => log.error({}, "working") },
    });
    await queue.enqueueMany(workers.db, [
      { kind: "works", payload: null },
      { kind: "fails", payload: null },
    ]);
    await workers.untilJobs("done", 1);
    await workers.untilJobs("dead", 1);
    await worker.stop();
    expect((await workers.jobs()).map(({ attempts }) => attempts)).toEqual([1, 1]);
  });
});

describe("a worker that is stopped from within", () => {
  test.each(["worker.started", "job.started", "job.completed"] as const)(
    "by onEvent at %s, stops and leaves nothing locked",
    async (type) => {
      const stopped: Promise<void>[] = [];
      const created: { worker?: Worker } = {};
      await queue.enqueue(workers.db, "works", null);
      const { worker, events } = workers.create({
        queue,
        handlers,
        onEvent: (event) => {
          if (event.type === type && created.worker !== undefined) stopped.push(created.worker.stop());
        },
      });
      created.worker = worker;
      await worker.start();
      await events.until("worker.stopped");
      await Promise.all(stopped);
      expect(stopped).toHaveLength(1);
      expect((await workers.jobs()).map(({ status }) => status)).not.toContain("running");
    },
  );

  test("by a handler that waits for it, does not wait for ever: the job is given back", async () => {
    const created: { worker?: Worker } = {};
    const { worker, events } = workers.create({ queue, handlers: { works: () => created.worker?.stop({ grace: 0 }) } });
    created.worker = worker;
    await worker.start();
    const { id } = await queue.enqueue(workers.db, "works", null);
    await events.until("worker.stopped");
    expect(await workers.job(id)).toMatchObject({ status: "queued", attempts: 1, locked_until: null });
  });
});

describe("a listener of somebody else's making", () => {
  test("that cannot be closed is reported, and the worker has stopped all the same", async () => {
    const { worker, events } = await workers.start({
      queue,
      handlers,
      listener: listenerWith(() => Promise.reject(new Error("already closed"))),
    });
    await worker.stop();
    expect(events.of("worker.stopped")).toHaveLength(1);
    expect(events.of("worker.error").map(({ error }) => error.message)).toEqual([expect.stringContaining("already closed")]);
  });

  test("whose close never ends does not keep a stop for ever", async () => {
    const { worker, events } = await workers.start({
      queue,
      handlers,
      lease: "1s",
      heartbeat: 300,
      listener: listenerWith(() => new Promise(() => {})),
    });
    await withDeadline(worker.stop(), "the stop", 5_000);
    expect(events.of("worker.stopped")).toHaveLength(1);
  });

  test("hears whatever anybody may notify, and the worker goes on", async () => {
    const unhandled = await unhandledDuring(async () => {
      let heard: ListenerEvents | undefined;
      const listener = listenerWith(
        () => Promise.resolve(),
        (own) => (heard = own),
      );
      const { events } = await workers.start({ queue, handlers, listener, pollInterval: "1h" });
      for (const payload of ["", "*", "cancel", "cancel 0", `cancel ${"9".repeat(30)}`, "5 ", "~", "9 \u0000", "5 mail\n5 other"])
        heard?.onNotification(payload);
      heard?.onNotification("5 ".padEnd(1_000_000, "x"));
      heard?.onNotification(undefined as unknown as string);
      await queue.enqueue(workers.db, "works", null);
      heard?.onNotification("not of ours");
      await events.until("job.completed");
    });
    expect(unhandled).toEqual([]);
  });

  test.each([
    ["an object without a prototype", Object.create(null) as object],
    ["a revoked proxy", revoked()],
    ["a symbol", Symbol("lost")],
    ["nothing", undefined],
  ])("may report %s as its error", async (_name, error) => {
    let heard: ListenerEvents | undefined;
    const listener = listenerWith(
      () => Promise.resolve(),
      (own) => (heard = own),
    );
    const { events } = await workers.start({ queue, handlers, listener });
    expect(() => heard?.onError(error)).not.toThrow();
    expect(events.of("worker.error")).toHaveLength(1);
  });
});
