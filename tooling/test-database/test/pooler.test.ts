import { existsSync } from "node:fs";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { findPooler, type Pooler, poolerMissing, startPooler, throughPooler, useTestDatabase } from "@queue/test-database";
import { needSession } from "../src/needs-session.js";

const database = useTestDatabase({ template: "empty" });
const installed = findPooler();

async function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

describe("a pooler", () => {
  let pooler: Pooler | undefined;
  let port = 0;
  const clients: pg.Client[] = [];

  beforeAll(async () => {
    if (installed === undefined) return;
    pooler = await startPooler({ server: { url: database.url } });
    port = Number(new URL(pooler.url).port);
  });
  beforeEach(({ skip }) => {
    if (installed === undefined) skip(poolerMissing);
  });
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.end()));
    await pooler?.stop();
  });

  async function connected(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: throughPooler(database.url, pooler ?? { url: "" }) });
    client.on("error", () => {});
    clients.push(client);
    await client.connect();
    return client;
  }

  test("leads any number of clients to two sessions of the server", async () => {
    const many = await Promise.all(Array.from({ length: 20 }, connected));
    const answers = await Promise.all(
      many.map((client) => client.query<{ pid: number }>("select pg_backend_pid() as pid from pg_sleep(0.01)")),
    );
    expect(new Set(answers.map(({ rows }) => rows[0]?.pid)).size).toBe(2);
  });

  test("gives a client nothing that outlives a transaction: no listening, no named statement", async () => {
    const [first, second, third] = await Promise.all([connected(), connected(), connected()]);
    const heard: unknown[] = [];
    first.on("notification", (message) => heard.push(message));
    await first.query("listen bell");
    // Both sessions are taken when the other two come: one of them is that which prepared the statement.
    await first.query({ name: "named", text: "select 1 as one" });
    await Promise.all([second.query("begin; select 1"), third.query("begin; select 1")]);
    const outcomes = await Promise.allSettled([second, third].map((client) => client.query({ name: "named", text: "select 1 as one" })));
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    await Promise.all([second.query("rollback"), third.query("rollback")]);
    await second.query("notify bell");
    await first.query("select 1");
    expect(heard).toEqual([]);
  });

  test("wants the server's password, and listens on the loopback address only", async ({ skip }) => {
    if (new URL(database.url).password === "") skip("this server has no password");
    const url = new URL(throughPooler(database.url, pooler ?? { url: "" }));
    url.password = "guessed";
    const guessing = new pg.Client({ connectionString: url.href });
    guessing.on("error", () => {});
    await expect(guessing.connect()).rejects.toThrow(/password authentication failed|SASL/);
    expect(await accepts("127.0.0.1", port)).toBe(true);
    const others = Object.values(networkInterfaces()).flatMap((addresses) => addresses?.filter((address) => !address.internal) ?? []);
    expect(await Promise.all(others.map(({ address }) => accepts(address, port)))).toEqual(others.map(() => false));
  });

  test("that is stopped is gone, also while a client is in a transaction", async () => {
    const own = await startPooler({ server: { url: database.url } });
    const client = new pg.Client({ connectionString: throughPooler(database.url, own) });
    client.on("error", () => {});
    await client.connect();
    await client.query("begin; select 1");
    await Promise.all([own.stop(), own.stop()]);
    expect(await accepts("127.0.0.1", Number(new URL(own.url).port))).toBe(false);
  });

  test("that does not understand its settings is an error with its own words", async () => {
    await expect(startPooler({ server: { url: database.url }, settings: { pool_mode: "whatever" } })).rejects.toThrow(
      /^PgBouncer did not start:\n[^]*pool_mode/,
    );
  });
});

test("the files that need sessions of their own are there", () => {
  const root = new URL("../../../", import.meta.url);
  for (const file of Object.keys(needSession)) expect(existsSync(fileURLToPath(new URL(file, root))), file).toBe(true);
});
