import { afterEach, describe, expect, test } from "vitest";
import { createQueue, job } from "@queue/core";
import { clientListener } from "./support/client-listener.js";
import { createGate } from "./support/gate.js";
import { type TestKysely, useWorkers } from "./support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({
  jobs: { plain: job<{ n: number }>(), write: job({ maxAttempts: 2 }), once: job(), fails: job({ backoff: { base: 1 }, maxAttempts: 2 }) },
});

async function setDefault(name: string, value: string): Promise<void> {
  await workers.database.pool.query(
    `do $$ begin execute format('alter database %I set ${name} = %L', current_database(), '${value}'); end $$`,
  );
}

afterEach(async () => {
  await workers.sql("do $$ begin execute format('alter database %I reset all', current_database()); end $$");
});

/** Everything a worker does, once; `db` begins its sessions with the defaults of the database. */
async function doEverything(db: TestKysely) {
  const { events, logger } = await workers.start({
    queue,
    db,
    concurrency: 4,
    lease: 4_000,
    heartbeat: 500,
    handlers: {
      plain: () => {},
      // Longer than heartbeats, which change the job's row while the transaction is open.
      write: {
        transactional: true,
        run: async (_job, { trx }) => {
          await trx.insertInto("ledger").values({ entry: "written", job: null }).execute();
          await heartbeats.pass();
          await trx.insertInto("ledger").values({ entry: "again", job: null }).execute();
        },
      },
      once: async (_job, { once }) => void (await once("effect", () => {})),
      fails: () => {
        throw new Error("no");
      },
    },
  });
  const heartbeats = createGate();
  const [write] = await queue.enqueueMany(workers.db, [
    { kind: "write", payload: null },
    { kind: "plain", payload: { n: 1 } },
    { kind: "once", payload: null },
    { kind: "fails", payload: null },
  ]);
  await heartbeats.reached;
  await workers.untilHeartbeats(write?.id ?? "", 1);
  heartbeats.open();
  await events.until("job.completed", 3);
  await events.until("job.dead");
  return {
    ledger: await workers.ledger(),
    jobs: (await workers.jobs()).map(({ kind, status, attempts }) => `${kind}: ${status}, ${attempts}`).toSorted(),
    errors: events.of("worker.error"),
    warnings: logger.linesOf("warn").map(({ message }) => message),
  };
}

const everything = {
  ledger: ["written", "again"],
  jobs: ["fails: dead, 2", "once: done, 1", "plain: done, 1", "write: done, 1"],
  errors: [],
  warnings: ["An attempt failed and will be retried."],
};

describe("B30: a database whose default isolation is above READ COMMITTED", () => {
  test.each(["repeatable read", "serializable"])("%s: a worker does everything, and nothing is a serialization failure", async (level) => {
    await setDefault("default_transaction_isolation", level);
    expect(await doEverything(workers.open())).toEqual(everything);
  });

  test.each(["repeatable read", "serializable"])("%s: four workers share a thousand jobs, and each is done once", async (level) => {
    await setDefault("default_transaction_isolation", level);
    const runs = new Map<number, number>();
    await queue.enqueueMany(
      workers.db,
      Array.from({ length: 1_000 }, (_, n) => ({ kind: "plain", payload: { n } })),
    );
    const started = await Promise.all(
      Array.from({ length: 4 }, () =>
        workers.start({
          queue,
          db: workers.open({ max: 4 }),
          handlers: { plain: ({ payload }) => void runs.set(payload.n, (runs.get(payload.n) ?? 0) + 1) },
        }),
      ),
    );
    await workers.untilJobs("done", 1_000);
    expect([...runs.values()].every((count) => count === 1)).toBe(true);
    expect((await workers.jobs()).every(({ attempts }) => attempts === 1)).toBe(true);
    for (const { events } of started) {
      expect(events.of("worker.error")).toEqual([]);
      expect(events.of("job.lease-lost")).toEqual([]);
    }
  });

  test("that is set while the worker runs is no more than one statement that is sent again", async () => {
    const db = workers.open({ max: 3, application_name: "to be renewed" });
    const { events } = await workers.start({ queue, db, handlers: { plain: () => {} } });
    await setDefault("default_transaction_isolation", "serializable");
    await workers.sql(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'to be renewed' and datname = current_database()",
    );
    await queue.enqueue(workers.db, "plain", { n: 1 });
    await events.until("job.completed");
  });
});

describe("a database that is read-only by default", () => {
  test("is worked on all the same", async () => {
    const producer = workers.db;
    await producer.selectFrom("ledger").select("entry").execute();
    await setDefault("default_transaction_read_only", "on");
    expect(await doEverything(workers.open())).toEqual(everything);
  });
});

describe("B82: sessions in other time zones", () => {
  test("change no due time", async () => {
    await setDefault("timezone", "Asia/Tokyo");
    const { events } = await workers.start({
      queue,
      db: workers.open(),
      listener: clientListener(workers.database.url),
      handlers: { plain: () => {} },
    });
    await setDefault("timezone", "America/New_York");
    const producer = workers.open();
    const now = await queue.enqueue(producer, "plain", { n: 1 });
    await events.untilFor(now.id, "job.completed");
    const later = await queue.enqueue(producer, "plain", { n: 1 }, { delay: 300 });
    const at = await queue.enqueue(producer, "plain", { n: 1 }, { runAt: new Date(Date.now() + 300) });
    await events.until("job.completed", 3);
    for (const { id } of [later, at]) {
      const { run_at, started_at } = await workers.job(id);
      expect(Number(started_at) - Number(run_at)).toBeGreaterThanOrEqual(0);
      expect(Number(started_at) - Number(run_at)).toBeLessThan(1_000);
    }
    const rows = await workers.sql<{ ageMs: number }>(
      `select extract(epoch from clock_timestamp() - created_at)::float8 * 1000 as "ageMs" from queue.all_jobs`,
    );
    for (const { ageMs } of rows) expect(Math.abs(ageMs)).toBeLessThan(5_000);
  });
});
