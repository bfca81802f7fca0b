import { Client, type ClientBase, neon, Pool } from "@neondatabase/serverless";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createQueue, job, type JsonValue, QueueError } from "@queue/core";
import { fromNeon } from "@queue/neon";
import { useTestDatabase } from "@queue/test-database";
import { openWebSocketProxy, type WebSocketProxy } from "./websocket-proxy.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { note: job<JsonValue>() } });
let proxy: WebSocketProxy;
let client: Client;
beforeAll(async () => {
  proxy = await openWebSocketProxy();
  client = new Client(database.url);
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await proxy[Symbol.asyncDispose]();
});

const payloads = async (): Promise<unknown[]> =>
  (await database.pool.query<{ payload: unknown }>("select payload from queue.jobs order by id")).rows.map(({ payload }) => payload);

describe("fromNeon", () => {
  test("binds texts, numbers and null, and leaves what only looks like a placeholder", async () => {
    const { rows } = await fromNeon(client).execute({
      sql: `select $1::text as text, $2::int as int, $3::text as nothing, '$1 ?'::text as quoted, ($4::text::jsonb ? '?') as has`,
      parameters: Object.freeze(["$2 ?", 1, null, '{"?": "$1"}']),
    });
    expect(rows).toEqual([{ text: "$2 ?", int: 1, nothing: null, quoted: "$1 ?", has: true }]);
  });

  test("runs in the transaction of the client: what it enqueues goes with a rollback, and with a savepoint", async () => {
    await client.query("begin");
    await queue.enqueue(fromNeon(client), "note", "outer");
    await client.query("savepoint inner_part");
    await queue.enqueue(fromNeon(client), "note", "undone");
    await client.query("rollback to savepoint inner_part");
    await queue.enqueue(fromNeon(client), "note", { price: "$1", list: ["?", null, "{1,2}"] });
    await client.query("commit");
    await client.query("begin");
    await queue.enqueue(fromNeon(client), "note", "rolled back");
    await client.query("rollback");
    expect(await payloads()).toEqual(["outer", { price: "$1", list: ["?", null, "{1,2}"] }]);
  });

  test("takes a client of a pool", async () => {
    const pool = new Pool({ connectionString: database.url });
    const pooled = await pool.connect();
    expect((await fromNeon(pooled).execute({ sql: "select 1 as one", parameters: [] })).rows).toEqual([{ one: 1 }]);
    pooled.release();
    await pool.end();
  });

  test("prepares nothing under a name, so that it works through Neon's pooler", async () => {
    await fromNeon(client).execute({ sql: "select $1::text", parameters: ["a"] });
    expect((await client.query("select * from pg_prepared_statements")).rows).toEqual([]);
  });

  test("names the same scope for the same client, whose tables need no second look", () => {
    expect(fromNeon(client).scope).toBe(fromNeon(client).scope);
  });

  test("passes the error of the server on as it is", async () => {
    await expect(fromNeon(client).execute({ sql: "select 1 / 0", parameters: [] })).rejects.toMatchObject({ code: "22012" });
  });

  test.each<[name: string, value: () => unknown, part: string]>([
    ["a pool", () => new Pool({ connectionString: database.url }), "await pool.connect()"],
    ["the sql of neon()", () => neon(database.url), "by HTTP"],
    ["nothing", () => undefined, "undefined"],
    ["null", () => null, "null"],
    ["a connection string", () => "postgres://localhost", '"postgres://localhost"'],
    ["a promise", () => Promise.resolve(), "an await is missing"],
    ["any object", () => ({}), "an object"],
  ])("refuses %s", (_name, value, part) => {
    const error = thrownBy(() => fromNeon(value() as ClientBase));
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
