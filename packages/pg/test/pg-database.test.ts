import { describe, expect, test } from "vitest";
import { pgDatabase } from "@queue/pg";
import { useTestDatabase } from "@queue/test-database";

const database = useTestDatabase({ template: "empty" });

describe("pgDatabase", () => {
  test("refuses what is no pool, and says what it wants", async () => {
    const client = await database.pool.connect();
    for (const wrong of [client, {}, null, undefined, "postgres://"]) {
      expect(() => pgDatabase(wrong as never)).toThrow(
        expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining("takes a Pool") }) as Error,
      );
    }
    client.release();
  });

  test("gives handlers the client that its transaction is open on", async () => {
    const pids = await pgDatabase(database.pool).transaction(async (client, executor) => {
      const text = "select pg_backend_pid() as pid, pg_current_xact_id()::text as xid";
      return [(await client.query<object>(text)).rows, (await executor.execute({ sql: text, parameters: [] })).rows];
    });
    expect(pids[0]).toEqual(pids[1]);
  });

  test("states its isolation and access mode, whatever the database's defaults are", async () => {
    const pool = database.newPool({ options: "-c default_transaction_isolation=serializable -c default_transaction_read_only=on" });
    const { rows } = await pgDatabase(pool).transaction((client) =>
      client.query("select current_setting('transaction_isolation') as isolation, current_setting('transaction_read_only') as read_only"),
    );
    expect(rows).toEqual([{ isolation: "read committed", read_only: "off" }]);
  });

  test("gives its connection back after each failure, in a pool of one", async () => {
    const db = pgDatabase(database.newPool({ max: 1 }));
    for (let n = 0; n < 50; n++) {
      const failing = db.transaction(async (_client, executor) => {
        await executor.execute({ sql: n % 2 === 0 ? "select 1 / 0" : "select 1", parameters: [] });
        throw new Error("changed my mind");
      });
      await expect(failing).rejects.toThrow(n % 2 === 0 ? "division by zero" : "changed my mind");
    }
    expect((await db.execute({ sql: "select 1 as one", parameters: [] })).rows).toEqual([{ one: 1 }]);
  });

  test("outlives a connection that is ended between two statements of a transaction, and takes another one", async () => {
    const db = pgDatabase(database.newPool({ max: 1 }));
    const lost = db.transaction(async (client) => {
      const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
      const gone = new Promise<void>((resolve) => client.once("error", () => resolve()));
      await database.pool.query("select pg_terminate_backend($1)", [rows[0]?.pid]);
      await gone;
      await client.query("select 1");
    });
    await expect(lost).rejects.toThrow(/terminat|not queryable|closed/);
    expect((await db.execute({ sql: "select 1 as one", parameters: [] })).rows).toEqual([{ one: 1 }]);
  });

  test("says that a commit was none when a failed statement was swallowed", async () => {
    const swallowed = pgDatabase(database.pool).transaction((client) => client.query("select 1 / 0").catch(() => {}));
    await expect(swallowed).rejects.toThrow("one of its statements had failed");
  });
});
