import { setImmediate as nextTurn } from "node:timers/promises";
import { sql } from "drizzle-orm";
import { drizzle as drizzleOnPg } from "drizzle-orm/node-postgres";
import { drizzle as drizzleOnPostgresJs } from "drizzle-orm/postgres-js";
import postgres from "postgres";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Executor } from "@queue/core/adapter";
import { drizzleDatabase } from "@queue/drizzle";
import { useTestDatabase } from "@queue/test-database";

const database = useTestDatabase({ template: "empty" });

async function terminate(pid: unknown): Promise<void> {
  await database.pool.query("select pg_terminate_backend($1)", [pid]);
  await expect.poll(async () => (await database.pool.query("select 1 from pg_stat_activity where pid = $1", [pid])).rows).toEqual([]);
}

async function isSleeping(pid: unknown): Promise<boolean> {
  const activity = "select from pg_stat_activity where pid = $1 and state = 'active' and query like '%pg_sleep%'";
  return (await database.pool.query(activity, [pid])).rowCount === 1;
}

describe("a connection that is lost inside a transaction", () => {
  test.each<[name: string, hear: (statement: Promise<unknown>) => Promise<unknown>]>([
    ["hears of it", (statement) => statement],
    ["swallows it", (statement) => statement.catch(() => {})],
  ])("on postgres.js rejects it, and does not end the process, when a statement was running and the body %s", async (_name, hear) => {
    const client = postgres(database.url, { max: 1, onnotice: () => {} });
    onTestFinished(() => client.end({ timeout: 1 }));
    const lost = drizzleDatabase(drizzleOnPostgresJs(client)).transaction(async (tx) => {
      const [row] = await tx.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`);
      const sleeping = hear(tx.execute(sql`select pg_sleep(60)`).then(() => "woke up"));
      await expect.poll(() => isSleeping(row?.pid)).toBe(true);
      await Promise.all([sleeping, terminate(row?.pid)]);
    });
    await expect(lost).rejects.toMatchObject({ code: "CONNECTION_CLOSED" });
    // postgres.js gives the farewell of the lost session to whoever uses the connection next, once.
    await expect(client`select 1`).rejects.toMatchObject({ code: "57P01" });
    expect([...(await client`select 1 as one`)]).toEqual([{ one: 1 }]);
  });

  test.each<[name: string, afterwards: (executor: Executor) => Promise<unknown>]>([
    ["resolves", async () => {}],
    ["rejects", () => Promise.reject(new Error("afterwards"))],
    ["goes on", (executor) => executor.execute({ sql: "select 1 as ok", parameters: [] })],
    ["goes on, and swallows what comes of it", (executor) => executor.execute({ sql: "select 1 as ok", parameters: [] }).catch(() => {})],
  ])(
    "on postgres.js rejects it, and does not end the process, when it is lost between two statements and the body %s",
    async (_name, afterwards) => {
      const client = postgres(database.url, { max: 1, onnotice: () => {} });
      onTestFinished(() => client.end({ timeout: 1 }));
      let ended: () => void = () => {};
      const bodyHasEnded = new Promise<void>((resolve) => (ended = resolve));
      const lost = drizzleDatabase(drizzleOnPostgresJs(client)).transaction(async (tx, executor) => {
        const [row] = await tx.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`);
        await terminate(row?.pid);
        await lost.catch(() => {});
        await afterwards(executor).finally(ended);
      });
      await expect(lost).rejects.toMatchObject({ code: "CONNECTION_CLOSED" });
      await bodyHasEnded;
      // What would be written to the lost connection, a commit or a rollback, is by now.
      await nextTurn();
      expect([...(await client`select 1 as one`.catch(() => client`select 1 as one`))]).toEqual([{ one: 1 }]);
    },
  );

  test("on node-postgres rejects with the error of the body, which Drizzle's own rollback would hide", async () => {
    const pool = database.newPool({ max: 1 });
    pool.on("error", () => {});
    // As the README says: without it node-postgres ends the process.
    pool.on("connect", (client) => client.on("error", () => {}));
    let seen: unknown;
    const lost = drizzleDatabase(drizzleOnPg(pool)).transaction(async (tx) => {
      const { rows } = await tx.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`);
      await terminate(rows[0]?.pid);
      await tx.execute(sql`select 1`).catch((error: unknown) => {
        seen = error;
        throw error;
      });
    });
    await expect(lost).rejects.toSatisfy((error) => error === seen);
    expect((await pool.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  });
});
