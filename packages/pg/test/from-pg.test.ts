import pg from "pg";
import { describe, expect, test } from "vitest";
import { QueueError } from "@queue/core";
import { fromPg } from "@queue/pg";
import { useTestDatabase } from "@queue/test-database";

const database = useTestDatabase({ template: "empty" });

describe("fromPg", () => {
  test("runs statements in the transaction of the client", async () => {
    const client = await database.pool.connect();
    try {
      await client.query("begin");
      await fromPg(client).execute({ sql: "create table written (id int)", parameters: [] });
      await client.query("rollback");
      const { rows } = await fromPg(client).execute<{ found: string | null }>({
        sql: "select to_regclass('written')::text as found",
        parameters: [],
      });
      expect(rows).toEqual([{ found: null }]);
    } finally {
      client.release();
    }
  });

  test("takes a client of no pool, and binds texts, numbers and null", async () => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      const { rows } = await fromPg(client).execute({
        sql: "select $1::text as text, $2::int as int, $3::text as nothing, $4::text::jsonb ->> 0 as json",
        parameters: Object.freeze(["a", 1, null, '["[1]"]']),
      });
      expect(rows).toEqual([{ text: "a", int: 1, nothing: null, json: "[1]" }]);
    } finally {
      await client.end();
    }
  });

  test("prepares nothing under a name, so that it works through a pooler in transaction mode", async () => {
    const client = await database.pool.connect();
    try {
      await fromPg(client).execute({ sql: "select $1::text", parameters: ["a"] });
      const { rows } = await client.query("select * from pg_prepared_statements");
      expect(rows).toEqual([]);
    } finally {
      client.release();
    }
  });

  test("names the same scope for the same client, whose tables need no second look", async () => {
    const client = await database.pool.connect();
    try {
      expect(fromPg(client).scope).toBe(fromPg(client).scope);
    } finally {
      client.release();
    }
  });

  test("passes the error of the server on as it is, and leaves it to the caller to roll back", async () => {
    const client = await database.pool.connect();
    try {
      await client.query("begin");
      await expect(fromPg(client).execute({ sql: "select 1 / 0", parameters: [] })).rejects.toMatchObject({ code: "22012" });
      await client.query("rollback");
    } finally {
      client.release();
    }
  });

  test("refuses a pool, because the job would not be in the caller's transaction", () => {
    const error = thrownBy(() => fromPg(database.pool as unknown as pg.Client));
    expect(QueueError.is(error, "INVALID_OPTION")).toBe(true);
    expect(String(error)).toContain("would not be in your transaction");
    expect(String(error)).toContain("await pool.connect()");
  });

  test.each([
    ["nothing", undefined, "undefined"],
    ["null", null, "null"],
    ["a connection string", "postgres://localhost", "string"],
    ["a promise", Promise.resolve(), "an await is missing"],
    ["any object", {}, "an object without query() and connect()"],
  ])("refuses %s", (_name, value, part) => {
    const error = thrownBy(() => fromPg(value as unknown as pg.Client));
    expect(QueueError.is(error, "INVALID_OPTION")).toBe(true);
    expect(String(error)).toContain(part);
  });
});

function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error("It did not throw.");
}
