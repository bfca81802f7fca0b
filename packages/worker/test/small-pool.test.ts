import { createWorker } from "@queue/worker";
import { Kysely, PostgresDialect, sql } from "kysely";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { createQueue, job, type QueueDatabase } from "@queue/core";
import { clientListener } from "./support/client-listener.js";
import { createGate } from "./support/gate.js";
import { useWorkers } from "./support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({
  jobs: { write: job<{ n: number }>(), timed: job<{ n: number }>({ timeout: 400, maxAttempts: 2 }), plain: job<{ n: number }>() },
});
/** Longer than the leases of these tests, so that a heartbeat that starves shows. */
const leaseAndMoreMs = 700;
const three = [0, 1, 2].map((n) => ({ n }));

describe("B25: handlers that use every connection of the pool", () => {
  test("transactional ones leave the worker what it needs: each job runs once, in both of two workers", async () => {
    const runs: number[] = [];
    const start = () =>
      workers.start({
        queue,
        db: workers.open({ max: 3 }),
        concurrency: 3,
        lease: 400,
        heartbeat: 100,
        sweepInterval: 100,
        handlers: {
          write: {
            transactional: true,
            run: async ({ id, payload }, { trx }) => {
              runs.push(payload.n);
              await trx
                .insertInto("ledger")
                .values({ entry: String(payload.n), job: null })
                .execute();
              await workers.untilRunningFor(id, leaseAndMoreMs);
            },
          },
        },
      });
    const started = [await start(), await start()];
    await queue.enqueueMany(
      workers.db,
      three.map((payload) => ({ kind: "write", payload })),
    );
    await expect
      .poll(async () => (await workers.jobs()).map(({ status }) => status), { timeout: 10_000 })
      .toEqual(["done", "done", "done"]);
    expect(runs.toSorted()).toEqual([0, 1, 2]);
    expect((await workers.jobs()).map(({ attempts }) => attempts)).toEqual([1, 1, 1]);
    for (const { logger, events } of started) {
      expect(events.of("job.lease-lost")).toEqual([]);
      const [warning] = logger.linesOf("warn");
      expect(warning).toMatchObject({ details: { connections: 3, wanted: 5 } });
      expect(warning?.message).toContain("at least 5");
    }
  });

  test("a worker that is stopped while it sees how many there are has given all back: the application may end its pool", async () => {
    const pool = new pg.Pool({ connectionString: workers.database.url, max: 3 });
    const worker = createWorker({
      queue,
      db: new Kysely<QueueDatabase>({ dialect: new PostgresDialect({ pool }) }),
      handlers: { write: { transactional: true, run: async () => {} } },
    });
    const starting = worker.start();
    await expect.poll(() => pool.waitingCount, { interval: 5 }).toBeGreaterThan(0);
    await worker.stop();
    await starting;
    expect({ waiting: pool.waitingCount, taken: pool.totalCount - pool.idleCount }).toEqual({ waiting: 0, taken: 0 });
    await pool.end();
  });

  test("plain ones that hold transactions of their own do not starve heartbeats on the listener's connection", async () => {
    const runs: number[] = [];
    const db = workers.open({ max: 3 });
    await workers.start({
      queue,
      db,
      listener: clientListener(workers.database.url),
      concurrency: 3,
      lease: 400,
      heartbeat: 100,
      handlers: {
        plain: async ({ id, payload }) => {
          runs.push(payload.n);
          await db.transaction().execute(() => workers.untilRunningFor(id, leaseAndMoreMs));
        },
      },
    });
    const sweeper = await workers.start({ queue, sweepInterval: 100, handlers: {} });
    await queue.enqueueMany(
      workers.db,
      three.map((payload) => ({ kind: "plain", payload })),
    );
    await expect
      .poll(async () => (await workers.jobs()).map(({ status }) => status), { timeout: 10_000 })
      .toEqual(["done", "done", "done"]);
    expect(runs.toSorted()).toEqual([0, 1, 2]);
    expect(sweeper.events.of("job.lease-lost")).toEqual([]);
  });

  test("a pool that hands out nothing for a while stops no claim for good", async () => {
    const pool = workers.database.newPool({ max: 1, connectionTimeoutMillis: 500 });
    const db = workers.openOn(pool);
    const { events } = await workers.start({ queue, db, handlers: { plain: () => {} } });
    const client = await pool.connect();
    try {
      await events.until("worker.error");
      await queue.enqueue(workers.db, "plain", { n: 1 });
    } finally {
      client.release();
    }
    await events.until("job.completed");
  });
});

describe("plain handlers beside transactional ones, of which one can begin at a time", () => {
  test.each(["waits for its turn", "is there"])("use all other slots, while a transactional job %s", async (state) => {
    const gate = createGate();
    const { events } = await workers.start({
      queue,
      db: workers.open({ max: 3 }),
      concurrency: 10,
      handlers: { plain: () => gate.pass(), write: { transactional: true, run: () => gate.pass() } },
    });
    if (state === "is there") await queue.enqueue(workers.db, "write", { n: 0 });
    await queue.enqueueMany(
      workers.db,
      Array.from({ length: 9 }, (_, n) => ({ kind: "plain", payload: { n } })),
    );
    await events.until("job.started", 9);
    if (state === "waits for its turn") await queue.enqueue(workers.db, "write", { n: 0 });
    await events.until("job.started", 10);
    gate.open();
    await events.until("job.completed", 10);
    expect((await workers.jobs()).map(({ attempts }) => attempts)).toEqual(Array.from({ length: 10 }, () => 1));
  });
});

describe("transactional handlers that wait for a connection", () => {
  test("have all of their timeout before them when they begin", async () => {
    const { events } = await workers.start({
      queue,
      db: workers.open({ max: 3 }),
      concurrency: 3,
      handlers: {
        timed: {
          transactional: true,
          run: async (_job, { trx }) => {
            await sql`select pg_sleep(0.25)`.execute(trx);
          },
        },
      },
    });
    await queue.enqueueMany(
      workers.db,
      three.map((payload) => ({ kind: "timed", payload })),
    );
    await events.until("job.completed", 3);
    expect((await workers.jobs()).map(({ attempts }) => attempts)).toEqual([1, 1, 1]);
  });

  test("are not claimed before they can begin: nothing of them is spent or begun when the worker stops", async () => {
    const first = createGate();
    const begun: number[] = [];
    const { worker, events } = await workers.start({
      queue,
      db: workers.open({ max: 3 }),
      concurrency: 3,
      handlers: {
        write: {
          transactional: true,
          run: async ({ payload }) => {
            begun.push(payload.n);
            await first.pass();
          },
        },
      },
    });
    await queue.enqueueMany(
      workers.db,
      three.map((payload) => ({ kind: "write", payload })),
    );
    await events.until("job.started");
    await first.reached;
    await worker.stop({ grace: 0 });
    expect((await workers.jobs()).map(({ status, attempts }) => [status, attempts])).toEqual([
      ["queued", 1],
      ["queued", 0],
      ["queued", 0],
    ]);
    first.open();
    const next = await workers.start({ queue, handlers: { plain: () => {} } });
    await queue.enqueue(workers.db, "plain", { n: 9 });
    await next.events.until("job.completed");
    expect(begun).toEqual([0]);
  });

  test("are not begun any more when their job was cancelled", async () => {
    const first = createGate();
    const begun: number[] = [];
    const { events } = await workers.start({
      queue,
      db: workers.open({ max: 3 }),
      concurrency: 3,
      lease: 300,
      handlers: {
        write: {
          transactional: true,
          run: async ({ payload }) => {
            begun.push(payload.n);
            await first.pass();
          },
        },
      },
    });
    const [running, second] = await queue.enqueueMany(
      workers.db,
      three.map((payload) => ({ kind: "write", payload })),
    );
    await first.reached;
    await queue.admin(workers.db).cancel(second?.id ?? "");
    await workers.untilHeartbeats(running?.id ?? "", 2);
    first.open();
    await events.until("job.completed", 2);
    expect(begun).toEqual([0, 2]);
  });
});
