import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { createQueue, job, QueueError } from "@queue/core";
import { clientListener } from "./support/client-listener.js";
import { createGate, untilAborted } from "./support/gate.js";
import { openTcpProxy } from "./support/tcp-proxy.js";
import { useWorkers } from "./support/use-workers.js";
import { withDeadline } from "./support/with-deadline.js";

const workers = useWorkers();
const queue = createQueue({ jobs: { long: job<{ n: number }>({ maxAttempts: 3, backoff: { base: "1h" } }), other: job() } });
const fifty = Array.from({ length: 50 }, (_, n) => ({ kind: "long", payload: { n } }) as const);

describe("B91: stop", () => {
  test("lets a running handler finish, and starts nothing more", async () => {
    const gate = createGate();
    let aborted = true;
    const { worker, events } = await workers.start({
      queue,
      concurrency: 1,
      handlers: {
        long: async (_job, { signal }) => {
          await gate.pass();
          aborted = signal.aborted;
        },
      },
    });
    await queue.enqueueMany(workers.db, fifty.slice(0, 21));
    await gate.reached;
    const stopped = worker.stop({ grace: "10s" });
    gate.open();
    await stopped;
    expect(aborted).toBe(false);
    expect(events.of("job.started")).toHaveLength(1);
    const statuses = (await workers.jobs()).map(({ status, claims, attempts }) => [status, claims, attempts].join());
    expect(statuses.filter((status) => status === "done,1,1")).toHaveLength(1);
    expect(statuses.filter((status) => status === "queued,0,0")).toHaveLength(20);
  });

  test("records what handlers come to while it waits: done, failed and snoozed", async () => {
    const gate = createGate();
    const { worker, events } = await workers.start({
      queue,
      concurrency: 3,
      handlers: {
        long: async ({ payload }) => {
          await gate.pass();
          if (payload.n === 1) throw new Error("while it stops");
        },
      },
    });
    await queue.enqueueMany(workers.db, fifty.slice(0, 2));
    await events.until("job.started", 2);
    const stopped = worker.stop();
    gate.open();
    await stopped;
    expect((await workers.jobs()).map(({ status, attempts, last_error }) => [status, attempts, last_error])).toEqual([
      ["done", 1, null],
      ["queued", 1, "while it stops"],
    ]);
    expect(events.all.at(-1)?.type).toBe("worker.stopped");
  });
});

describe("B92: a handler that outlasts the grace", () => {
  test("has its signal aborted at its end, and is waited for a little while more", async () => {
    let reason: unknown;
    const begun = createGate();
    const { worker, events } = await workers.start({
      queue,
      handlers: {
        long: async (_job, { signal }) => {
          void begun.pass();
          reason = await untilAborted(signal);
          throw reason;
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "long", { n: 1 });
    await begun.reached;
    await worker.stop({ grace: 50 });
    expect(QueueError.is(reason, "WORKER_STOPPING") && reason.jobId).toBe(id);
    expect(await workers.job(id)).toMatchObject({ status: "queued", attempts: 1, locked_until: null, last_error: null, errors: [] });
    expect(events.typesFor(id)).toEqual(["job.started", "job.released"]);
  });

  test("and ignores its signal, loses its job: another worker starts it at once, and what it does then counts for nothing", async () => {
    const gate = createGate();
    const { worker, events } = await workers.start({ queue, lease: "10m", handlers: { long: () => gate.pass() } });
    const { id } = await queue.enqueue(workers.db, "long", { n: 1 });
    await gate.reached;
    const begunAt = performance.now();
    await worker.stop({ grace: 100 });
    expect(performance.now() - begunAt).toBeLessThan(2_000);
    const attempts: number[] = [];
    const other = await workers.start({ queue, handlers: { long: ({ attempt }) => void attempts.push(attempt) } });
    await other.events.untilFor(id, "job.completed");
    expect(attempts).toEqual([2]);
    const before = await workers.job(id);
    gate.open();
    await queue.enqueue(workers.db, "long", { n: 2 });
    await other.events.until("job.completed", 2);
    expect(await workers.job(id)).toEqual(before);
    expect(events.typesFor(id)).toEqual(["job.started", "job.released"]);
  });

  test("is told of once, also when it ends while its job is being given back", async () => {
    const gate = createGate();
    const { worker, events } = await workers.start({ queue, handlers: { long: () => gate.pass() } });
    const { id } = await queue.enqueue(workers.db, "long", { n: 1 });
    await gate.reached;
    const client = await workers.database.pool.connect();
    try {
      // Nothing can be written about the job for now.
      await client.query("begin; select from queue.jobs for update");
      const stopped = worker.stop({ grace: 0 });
      await workers.sqlUntil(
        "select from pg_stat_activity where query like '%extend_leases_%' and state = 'idle' and datname = current_database()",
      );
      gate.open();
      await client.query("rollback");
      await stopped;
    } finally {
      client.release();
    }
    expect(events.typesFor(id)).toEqual(["job.started", "job.released"]);
    expect(await workers.job(id)).toMatchObject({ status: "queued", attempts: 1 });
  });

  test("does not die of it on its last attempt: a deploy is no reason", async () => {
    const gate = createGate();
    const { worker } = await workers.start({ queue, handlers: { long: () => gate.pass() } });
    const { id } = await queue.enqueue(workers.db, "long", { n: 1 }, { maxAttempts: 1 });
    await gate.reached;
    await worker.stop({ grace: 0 });
    expect(await workers.job(id)).toMatchObject({ status: "queued", attempts: 0 });
    gate.open();
  });
});

describe("B90: a claim that is under way when the worker stops", () => {
  test("gives back what it brings, with its attempt, when its answer comes late", async () => {
    const proxy = await openTcpProxy(workers.database.url);
    try {
      const db = workers.open({ connectionString: proxy.url });
      const { worker, events } = await workers.start({ queue, db, pollInterval: 50, concurrency: 50, handlers: { long: () => {} } });
      proxy.holdAnswersFrom(fifty[0]?.kind ?? "");
      await queue.enqueueMany(workers.db, fifty);
      await workers.untilJobs("running", 50);
      const stopped = worker.stop({ grace: "10s" });
      proxy.letAnswersThrough();
      await stopped;
      expect(events.of("job.started")).toEqual([]);
      expect(events.of("job.released")).toHaveLength(50);
      expect(await workers.sql("select distinct status, attempts, locked_until from queue.jobs")).toEqual([
        { status: "queued", attempts: 0, locked_until: null },
      ]);
    } finally {
      await proxy.close();
    }
    const other = await workers.start({ queue, handlers: { long: () => {} } });
    await other.events.until("job.completed", 50);
    expect((await workers.jobs()).every(({ attempts }) => attempts === 1)).toBe(true);
  });

  test("is waited for when it waits for a lock itself", async () => {
    const { worker, events } = await workers.start({ queue, concurrency: 50, handlers: { long: () => {} } });
    const client = await workers.database.pool.connect();
    try {
      await queue.enqueueMany(workers.db, fifty.slice(0, 5));
      await events.until("job.completed", 5);
      await client.query("begin; lock table queue.jobs in access exclusive mode");
      await workers.sqlUntil("select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()");
      const stopped = worker.stop({ grace: "10s" });
      await client.query("insert into queue.jobs (kind, payload) values ('long', '{}')");
      await client.query("commit");
      await stopped;
    } finally {
      client.release();
    }
    expect((await workers.jobs()).filter(({ status }) => status === "running")).toEqual([]);
  });
});

describe("a stop while the database is away", () => {
  test("ends all the same, and what it could not give back is returned when its lease runs out", async () => {
    const proxy = await openTcpProxy(workers.database.url);
    const gate = createGate();
    const db = workers.open({ connectionString: proxy.url, connectionTimeoutMillis: 200 });
    const { worker } = await workers.start({ queue, db, lease: 500, heartbeat: 100, handlers: { long: () => gate.pass() } });
    const { id } = await queue.enqueue(workers.db, "long", { n: 1 });
    await gate.reached;
    await proxy.close();
    const begunAt = performance.now();
    await worker.stop({ grace: 100 });
    expect(performance.now() - begunAt).toBeLessThan(5_000);
    gate.open();
    const other = await workers.start({ queue, sweepInterval: 50, handlers: { long: () => {} } });
    await other.events.untilFor(id, "job.completed");
    expect(await workers.job(id)).toMatchObject({ attempts: 2 });
  });
});

describe("a stop while the worker starts, and the server accepts and says nothing", () => {
  test.each(["start", "runUntilIdle"] as const)("ends %s, which resolves", async (how) => {
    const silent = createServer((socket) => void socket.on("error", () => {})).listen(0, "127.0.0.1");
    await once(silent, "listening");
    try {
      const { port } = silent.address() as AddressInfo;
      const connected = once(silent, "connection");
      const db = workers.open({ connectionString: `postgres://nobody@127.0.0.1:${port}/none` });
      const { worker, events } = workers.create({ queue, db, handlers: { long: () => {} } });
      const started = worker[how]();
      const [socket] = (await connected) as [Socket];
      await withDeadline(worker.stop({ grace: 0 }), "the stop", 5_000);
      await started;
      expect(events.of("worker.stopped")).toHaveLength(1);
      socket.destroy();
    } finally {
      silent.close();
    }
  });
});

describe("what a stop leaves behind", () => {
  test("are no connections, no entry, and no listener", async () => {
    const listener = clientListener(workers.database.url);
    const { worker } = await workers.start({ queue, listener, handlers: { long: () => {} } });
    expect(await workers.sql("select from queue.workers")).toHaveLength(1);
    const { pid } = listener;
    await worker.stop();
    expect(await workers.sql("select from queue.workers")).toEqual([]);
    await workers.sqlUntil(`select where not exists (select from pg_stat_activity where pid = ${pid})`);
  });
});
