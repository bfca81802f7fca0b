import { Client, type ClientBase, neon, Pool } from "@neondatabase/serverless";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fromNeon } from "@queue/neon";
import { useTestDatabase } from "@queue/test-database";
import { openWebSocketProxy, type WebSocketProxy } from "./websocket-proxy.js";

const database = useTestDatabase({ template: "empty" });
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

describe("fromNeon", () => {
  test("takes a client of no pool", async () => {
    expect((await fromNeon(client).execute({ sql: "select 1 as one", parameters: [] })).rows).toEqual([{ one: 1 }]);
  });

  test("names the same scope for the same client, whose tables need no second look", () => {
    expect(fromNeon(client).scope).toBe(client);
  });

  test.each<[name: string, value: () => unknown, part: string]>([
    ["a pool", () => new Pool({ connectionString: database.url }), "await pool.connect()"],
    ["the sql of neon()", () => neon(database.url), "by HTTP"],
  ])("refuses %s", (_name, value, part) => {
    expect(() => fromNeon(value() as ClientBase)).toThrow(
      expect.objectContaining({ name: "QueueError", code: "INVALID_OPTION", message: expect.stringContaining(part) }),
    );
  });
});
