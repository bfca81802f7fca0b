import { Pool, type PoolConfig } from "@neondatabase/serverless";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { neonDatabase } from "@queue/neon";
import { useTestDatabase } from "@queue/test-database";
import { openWebSocketProxy } from "./websocket-proxy.js";

const database = useTestDatabase({ template: "empty" });
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

test.each([undefined, null, {}, "postgres://localhost"])("neonDatabase refuses %s", (value) => {
  expect(() => neonDatabase(value as Pool)).toThrow(/takes a Pool/);
});
