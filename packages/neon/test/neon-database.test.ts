import { Pool, type PoolConfig } from "@neondatabase/serverless";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createQueue, job } from "@queue/core";
import { fromNeon, neonDatabase } from "@queue/neon";
import { useTestDatabase } from "@queue/test-database";
import { createWorker } from "@queue/worker";
import { openWebSocketProxy } from "./websocket-proxy.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { note: job<string>() } });
beforeAll(async () => {
  const proxy = await openWebSocketProxy();
  return () => proxy[Symbol.asyncDispose]();
});

function open(config: PoolConfig = {}): Pool {
  const pool = new Pool({ connectionString: database.url, ...config });
  pool.on("error", () => {});
  onTestFinished(() => pool.end());
  return pool;
}

async function terminate(pid: unknown): Promise<void> {
  await database.pool.query("select pg_terminate_backend($1)", [pid]);
  await expect.poll(async () => (await database.pool.query("select 1 from pg_stat_activity where pid = $1", [pid])).rows).toEqual([]);
}

describe("a transaction of neonDatabase", () => {
  test("is at READ COMMITTED and may write, whatever the defaults of the database are", async () => {
    const pool = open({ options: "-c default_transaction_isolation=serializable -c default_transaction_read_only=on" });
    const seen = await neonDatabase(pool).transaction(async (trx) => {
      const text = "select current_setting('transaction_isolation') as isolation, current_setting('transaction_read_only') as read_only";
      return (await trx.query(text)).rows;
    });
    expect(seen).toEqual([{ isolation: "read committed", read_only: "off" }]);
  });

  test("rejects with the error of its body, also when a statement had failed before", async () => {
    const failure = new Error("mine");
    const failing = neonDatabase(open()).transaction(async (trx) => {
      await trx.query("select 1 / 0").catch(() => {});
      throw failure;
    });
    await expect(failing).rejects.toBe(failure);
  });

  test("rejects when a statement has failed and nobody said it", async () => {
    const failing = neonDatabase(open()).transaction(async (trx) => void (await trx.query("select 1 / 0").catch(() => {})));
    await expect(failing).rejects.toThrow("was rolled back");
  });

  test("gives its connection back: fifty failures leave a pool of two as it was", async () => {
    const db = neonDatabase(open({ max: 2 }));
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, (_, n) =>
        db.transaction(async (trx, executor) => {
          await queue.enqueue(executor, "note", "lost");
          if (n % 2 === 0) await trx.query("select 1 / 0");
          throw new Error(`failure ${n}`);
        }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === "rejected")).toHaveLength(50);
    const both = await Promise.all([1, 2].map((n) => db.transaction((trx) => trx.query("select $1::int as n", [n]))));
    expect(both.map(({ rows }) => rows)).toEqual([[{ n: 1 }], [{ n: 2 }]]);
    expect((await database.pool.query("select from queue.jobs")).rowCount).toBe(0);
  });

  test("whose connection is lost between two statements rejects, and leaves the process and the pool in order", async () => {
    const pool = open({ max: 1 });
    const db = neonDatabase(pool);
    const lost = db.transaction(async (trx) => {
      const { rows } = await trx.query<{ pid: number }>("select pg_backend_pid() as pid");
      await terminate(rows[0]?.pid);
      // It hears of it by an event, some time after the server has ended the session.
      await expect.poll(() => trx.query("select 1").then(Boolean, () => "refused")).toBe("refused");
      await trx.query("select 1");
    });
    await expect(lost).rejects.toBeInstanceOf(Error);
    expect((await db.transaction((trx) => trx.query("select 1 as one"))).rows).toEqual([{ one: 1 }]);
  });
});

test("a transactional handler writes through the PoolClient of the driver", async () => {
  const db = neonDatabase(open());
  await database.pool.query("create table shipped (note text)");
  await queue.enqueue(db, "note", "first");
  const worker = createWorker({
    queue,
    db,
    concurrency: 1,
    handlers: {
      note: {
        transactional: true,
        run: async ({ payload }, { trx }) => {
          await trx.query("insert into shipped values ($1)", [payload]);
          if (payload === "first") await queue.enqueue(fromNeon(trx), "note", "second");
        },
      },
    },
  });
  await worker.runUntilIdle();
  expect((await database.pool.query("select note from shipped")).rows).toEqual([{ note: "first" }, { note: "second" }]);
});

test.each([undefined, null, {}, "postgres://localhost"])("neonDatabase refuses %s", (value) => {
  expect(() => neonDatabase(value as Pool)).toThrow(/takes a Pool/);
});
