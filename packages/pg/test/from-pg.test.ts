import pg from "pg";
import { describe, expect, test } from "vitest";
import { fromPg } from "@queue/pg";
import { useTestDatabase } from "@queue/test-database";

const database = useTestDatabase({ template: "empty" });

describe("fromPg", () => {
  test("takes a client of no pool", async () => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      expect((await fromPg(client).execute({ sql: "select 1 as one", parameters: [] })).rows).toEqual([{ one: 1 }]);
    } finally {
      await client.end();
    }
  });

  test("names the same scope for the same client, whose tables need no second look", async () => {
    const client = await database.pool.connect();
    try {
      expect(fromPg(client).scope).toBe(fromPg(client).scope);
      expect(fromPg(client).scope).toBe(client);
    } finally {
      client.release();
    }
  });

  test.each(["would not be in your transaction", "await pool.connect()"])("refuses a pool, and says: %s", (part) => {
    expect(() => fromPg(database.pool as unknown as pg.Client)).toThrow(
      expect.objectContaining({ name: "QueueError", code: "INVALID_OPTION", message: expect.stringContaining(part) }),
    );
  });
});
