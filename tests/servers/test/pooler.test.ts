import { Kysely, PostgresDialect, sql } from "kysely";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createQueue, job } from "@queue/core";
import { migrate } from "@queue/core/migrations";
import { pgListener } from "@queue/pg";
import { poolerMissing, useTestDatabase } from "@queue/test-database";
import { createWorker, type WorkerEvent } from "@queue/worker";
import { doEverything, everything } from "./support/everything.js";
import { recordLogger } from "./support/recorded-logger.js";
import { hasPooler, usePooler } from "./support/use-pooler.js";

const database = useTestDatabase();
const pooled = usePooler(database);
const queue = createQueue({ jobs: { plain: job<{ n: number }>(), write: job<{ n: number }>() } });
const patient = { timeout: 15_000 };
/** Longer than a test may take: what starts, starts because something rang. */
const noPoll = "60s";

beforeAll(async () => {
  await database.pool.query("create table ledger (n int)");
});
beforeEach(async ({ skip }) => {
  if (!hasPooler) skip(poolerMissing);
  await database.pool.query("truncate queue.jobs, queue.jobs_archive, queue.job_keys, queue.effects, queue.workers, ledger");
});

/** Of all jobs, from the server itself. */
async function statuses(): Promise<readonly string[]> {
  const { rows } = await database.pool.query<{ shown: string }>(
    "select distinct format('%s: %s, attempt %s', kind, status, attempts) as shown from queue.all_jobs order by 1",
  );
  return rows.map(({ shown }) => shown);
}

async function countOf(status: string): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>("select count(*)::int as count from queue.all_jobs where status = $1", [
    status,
  ]);
  return rows[0]?.count ?? 0;
}

describe("through a pooler in transaction mode that has two connections", () => {
  test("everything goes on as without it, from the first migration", async () => {
    const db = pooled.open();
    await migrate(db, { schema: "pooled" });
    await sql`create table pooled.ledger (entry text)`.execute(db);
    // That there are two connections is a warning.
    expect(await doEverything({ schema: "pooled", db })).toEqual({ ...everything, warnings: expect.any(Array) });
  });

  test("three workers that poll share hundreds of jobs: each is done once, and what it wrote is there once", async () => {
    const runs = new Map<number, number>();
    const troubles: WorkerEvent[] = [];
    const workers = Array.from({ length: 3 }, () =>
      createWorker({
        queue,
        db: pooled.open({ max: 5 }),
        logger: recordLogger(),
        pollInterval: 25,
        onEvent: (event) => void (["worker.error", "job.lease-lost", "job.failed"].includes(event.type) && troubles.push(event)),
        handlers: {
          plain: ({ payload }) => void runs.set(payload.n, (runs.get(payload.n) ?? 0) + 1),
          write: {
            transactional: true,
            run: async ({ payload }, { trx }) => {
              await sql`insert into ledger values (${payload.n})`.execute(trx);
              await sql`select`.execute(trx);
            },
          },
        },
      }),
    );
    const producer = pooled.open();
    await Promise.all(workers.map((worker) => worker.start()));
    try {
      for (let batch = 0; batch < 10; batch++) {
        const items = Array.from({ length: 20 }, (_, n) => ({ payload: { n: batch * 20 + n } }));
        await producer.transaction().execute(async (trx) => {
          await queue.enqueueMany(
            trx,
            items.flatMap(({ payload }) => [
              { kind: "plain" as const, payload },
              { kind: "write" as const, payload },
            ]),
          );
        });
      }
      await expect.poll(() => countOf("done"), patient).toBe(400);
    } finally {
      await Promise.all(workers.map((worker) => worker.stop()));
    }
    expect(await statuses()).toEqual(["plain: done, attempt 1", "write: done, attempt 1"]);
    expect([...runs.values()]).toEqual(Array.from({ length: 200 }, () => 1));
    const { rows } = await database.pool.query("select count(*)::int as rows, count(distinct n)::int as jobs from ledger");
    expect(rows).toEqual([{ rows: 200, jobs: 200 }]);
    expect(troubles).toEqual([]);
  });

  test("transactional handlers do not take the last of its connections from the heartbeats", async () => {
    const troubles: WorkerEvent[] = [];
    const lease = 2_000;
    const worker = createWorker({
      queue,
      db: pooled.open({ max: 10 }),
      logger: recordLogger(),
      concurrency: 2,
      pollInterval: 25,
      lease,
      heartbeat: 400,
      onEvent: (event) => void (["job.lease-lost", "job.failed"].includes(event.type) && troubles.push(event)),
      handlers: {
        write: {
          transactional: true,
          // Longer than the lease, by the server.
          run: async (_job, { trx }) => void (await sql`select pg_sleep(${(lease * 1.5) / 1_000}::float8)`.execute(trx)),
        },
      },
    });
    await worker.start();
    // Reaches the server without the pooler, as a worker on another machine may.
    const sweeper = createWorker({ queue, db: directly(), logger: recordLogger(), sweepInterval: 50, handlers: {} });
    await sweeper.start();
    try {
      await queue.enqueueMany(
        directly(),
        [1, 2].map((n) => ({ kind: "write", payload: { n } })),
      );
      await expect.poll(() => countOf("done"), patient).toBe(2);
    } finally {
      await Promise.all([worker.stop({ grace: 0 }), sweeper.stop()]);
    }
    expect(await statuses()).toEqual(["write: done, attempt 1"]);
    expect(troubles).toEqual([]);
  });

  test("with a direct connection for its listener a worker begins at once, not at the next poll", async () => {
    const worker = createWorker({
      queue,
      db: pooled.open(),
      logger: recordLogger(),
      pollInterval: noPoll,
      listener: pgListener({ connectionString: database.url }),
      handlers: { plain: () => {} },
    });
    await worker.start();
    const producer = pooled.open();
    try {
      for (let n = 1; n <= 5; n++) {
        await queue.enqueue(producer, "plain", { n });
        await expect.poll(() => countOf("done"), patient).toBe(n);
      }
    } finally {
      await worker.stop();
    }
  });

  test("with a direct connection for its listener a cancelled job is aborted at once, not at the next heartbeat", async () => {
    let reason: unknown;
    const worker = createWorker({
      queue,
      db: pooled.open(),
      logger: recordLogger(),
      pollInterval: noPoll,
      heartbeat: "9s",
      lease: "30s",
      listener: pgListener({ connectionString: database.url }),
      handlers: {
        plain: (_job, { signal }) =>
          new Promise<void>((resolve) => {
            signal.addEventListener("abort", () => {
              reason = signal.reason;
              resolve();
            });
          }),
      },
    });
    await worker.start();
    try {
      const db = pooled.open();
      const { id } = await queue.enqueue(db, "plain", { n: 1 });
      await expect.poll(() => countOf("running"), patient).toBe(1);
      await queue.admin(db).cancel(id);
      await expect.poll(() => reason, { timeout: 5_000 }).toMatchObject({ code: "JOB_CANCELLED" });
    } finally {
      await worker.stop();
    }
  });

  test("a listener that goes through the pooler by mistake hears nothing, and its worker polls", async () => {
    const worker = createWorker({
      queue,
      db: pooled.open(),
      logger: recordLogger(),
      pollInterval: 100,
      listener: pgListener({ connectionString: pooled.url }),
      handlers: { plain: () => {} },
    });
    await worker.start();
    try {
      await queue.enqueue(pooled.open(), "plain", { n: 1 });
      await expect.poll(() => countOf("done"), patient).toBe(1);
    } finally {
      await worker.stop();
    }
  });
});

function directly(): Kysely<unknown> {
  return new Kysely<unknown>({ dialect: new PostgresDialect({ pool: database.newPool() }) });
}
