import { describe, expect, test } from "vitest";
import { createQueue, job } from "@queue/core";
import { migrate } from "@queue/core/migrations";
import { useWorkers } from "../support/use-workers.js";
import { openTransactionPooler } from "./support/transaction-pooler.js";

const workers = useWorkers();
const queue = createQueue({
  jobs: { works: job<{ n: number }>(), enters: job<{ n: number }>(), fails: job({ maxAttempts: 2, backoff: { base: 0, cap: 0 } }) },
});

describe("B26: a pooler in transaction mode, with two connections and no named statements", () => {
  test("carries 500 jobs of four workers, each once, and no statement ever has a name", async () => {
    await using pooler = await openTransactionPooler(workers.database.url, 2);
    const runs: number[] = [];
    const started = await Promise.all(
      Array.from({ length: 4 }, () =>
        workers.start({
          queue,
          db: workers.open({ connectionString: pooler.url, max: 5 }),
          concurrency: 20,
          handlers: {
            works: ({ payload }) => void runs.push(payload.n),
            enters: {
              transactional: true,
              run: async ({ payload, id }, { trx }) => {
                await trx
                  .insertInto("ledger")
                  .values({ entry: String(payload.n), job: id })
                  .execute();
              },
            },
            fails: () => Promise.reject(new Error("as it was told")),
          },
        }),
      ),
    );
    const db = workers.open({ connectionString: pooler.url, max: 5 });
    await db
      .transaction()
      .execute((trx) =>
        queue.enqueueMany(trx, [
          ...Array.from({ length: 440 }, (_, n) => ({ kind: "works", payload: { n }, options: { key: `k${n}` } }) as const),
          ...Array.from({ length: 50 }, (_, n) => ({ kind: "enters", payload: { n } }) as const),
          ...Array.from({ length: 10 }, () => ({ kind: "fails", payload: null }) as const),
        ]),
      );
    await workers.untilJobs("done", 490);
    await workers.untilJobs("dead", 10);
    expect(runs.sort((a, b) => a - b)).toEqual(Array.from({ length: 440 }, (_, n) => n));
    expect(new Set(await workers.ledger()).size).toBe(50);
    expect(await workers.ledger()).toHaveLength(50);
    expect((await workers.jobs()).filter(({ attempts }) => attempts !== 1)).toHaveLength(10);
    await Promise.all(started.map(({ worker }) => worker.stop()));
    expect(pooler.statementNames).toEqual([]);
    expect(pooler.errorStates).toEqual([]);
    expect(pooler.transactions).toBeGreaterThan(60);
    expect(started.flatMap(({ events }) => events.of("worker.error"))).toEqual([]);
  });
});

describe("B28: advisory locks, which belong to a session that nobody has for long", () => {
  test("are never held beyond a transaction: not by migrations, not by maintenance, not by workers that stop", async () => {
    await using pooler = await openTransactionPooler(workers.database.url, 2);
    const open = () => workers.open({ connectionString: pooler.url, max: 3 });
    const results = await Promise.all(Array.from({ length: 3 }, () => migrate(open(), { schema: "pooled" })));
    expect(results.flatMap(({ applied }) => applied)).toEqual(["0001-initial", expect.stringMatching(/^functions-/)]);
    for (let round = 0; round < 2; round++) {
      const started = await Promise.all(
        Array.from({ length: 3 }, () =>
          workers.start({ queue, db: open(), sweepInterval: 20, lease: "1s", heartbeat: 50, handlers: { works: () => {} } }),
        ),
      );
      await queue.enqueueMany(
        workers.db,
        Array.from({ length: 20 }, (_, n) => ({ kind: "works", payload: { n } }) as const),
      );
      await workers.untilJobs("done", 20 * (round + 1));
      await Promise.all([...started.map(({ worker }) => worker.stop()), migrate(open(), { schema: "pooled" })]);
    }
    // What a stopped worker had sent may run on for a moment.
    await expect
      .poll(() =>
        workers.sql(
          "select classid, objid, pid from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())",
        ),
      )
      .toEqual([]);
    expect(pooler.errorStates).toEqual([]);
  });

  test("a lock that somebody else leaked on a connection of the pooler keeps no migration and no maintenance waiting", async () => {
    await using pooler = await openTransactionPooler(workers.database.url, 2);
    const db = workers.open({ connectionString: pooler.url, max: 1 });
    const key = "pg_catalog.hashtextextended('something of the application', 0)";
    const client = await workers.database.newPool({ connectionString: pooler.url, max: 1 }).connect();
    await client.query(`select pg_advisory_lock(${key})`);
    client.release();
    expect(await migrate(db, { schema: "beside_a_leak" })).toMatchObject({
      applied: ["0001-initial", expect.stringMatching(/^functions-/)],
    });
    const { worker, events } = await workers.start({ queue, db, handlers: { works: () => {} } });
    await queue.enqueue(db, "works", { n: 1 });
    await events.until("job.completed");
    await worker.stop();
  });

  test("settings of a session that others left behind on a connection change nothing", async () => {
    await using pooler = await openTransactionPooler(workers.database.url, 1);
    const client = await workers.database.newPool({ connectionString: pooler.url, max: 1 }).connect();
    for (const setting of [
      "search_path = nowhere",
      "timezone = 'Asia/Tokyo'",
      "default_transaction_isolation = serializable",
      "datestyle = 'SQL, DMY'",
      "intervalstyle = iso_8601",
      "bytea_output = escape",
      "extra_float_digits = -3",
    ])
      await client.query(`set ${setting}`);
    client.release();
    const { worker, events } = await workers.start({
      queue,
      db: workers.open({ connectionString: pooler.url, max: 5 }),
      handlers: { works: () => {}, fails: () => Promise.reject(new Error("as it was told")) },
    });
    const { id } = await queue.enqueue(workers.open({ connectionString: pooler.url }), "works", { n: 1 });
    await queue.enqueue(workers.db, "fails", null);
    await events.untilFor(id, "job.completed");
    await events.until("job.dead");
    const { run_at, created_at } = await workers.job(id);
    expect(Math.abs(run_at.getTime() - created_at.getTime())).toBeLessThan(60_000);
    await worker.stop();
  });
});
