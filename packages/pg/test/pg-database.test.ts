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
});
