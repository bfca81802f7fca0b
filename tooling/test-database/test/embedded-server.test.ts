import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { type EmbeddedServer, startEmbeddedServer } from "@queue/test-database";

async function query<R>(url: string, sql: string): Promise<R[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows as R[];
  } finally {
    await client.end();
  }
}

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

describe("a server", () => {
  let server: EmbeddedServer;
  beforeAll(async () => {
    server = await startEmbeddedServer();
  });
  afterAll(() => server.stop());

  test("is a recent PostgreSQL with room for 300 connections", async () => {
    const [row] = await query<{ version: string; connections: string }>(
      server.url,
      "select current_setting('server_version_num') as version, current_setting('max_connections') as connections",
    );
    expect(server.version).toBe(Number(row?.version));
    expect(server.version).toBeGreaterThanOrEqual(180_000);
    expect(Number(row?.connections)).toBeGreaterThanOrEqual(300);
  });

  test("listens on the loopback address only, and on no socket file", async () => {
    const port = Number(new URL(server.url).port);
    expect(await accepts("127.0.0.1", port)).toBe(true);
    const others = Object.values(networkInterfaces()).flatMap((addresses) => addresses?.filter((address) => !address.internal) ?? []);
    expect(await Promise.all(others.map(({ address }) => accepts(address, port)))).toEqual(others.map(() => false));
    expect(await query(server.url, "select current_setting('unix_socket_directories') as folders")).toEqual([{ folders: "" }]);
  });

  test("wants its password", async () => {
    const url = new URL(server.url);
    url.password = "guessed";
    await expect(query(url.href, "select 1")).rejects.toMatchObject({ code: "28P01" });
  });
});

test("a server that is stopped, more than once and with a connection open, is gone with all it wrote", async () => {
  const server = await startEmbeddedServer();
  const client = new pg.Client({ connectionString: server.url });
  client.on("error", () => {});
  await client.connect();
  expect(existsSync(server.folder)).toBe(true);

  await Promise.all([server.stop(), server.stop()]);
  await server.stop();

  expect(existsSync(server.folder)).toBe(false);
  expect(await accepts("127.0.0.1", Number(new URL(server.url).port))).toBe(false);
});

test("two servers at once do not disturb each other", async () => {
  const servers = await Promise.all([startEmbeddedServer(), startEmbeddedServer()]);
  onTestFinished(async () => void (await Promise.all(servers.map((server) => server.stop()))));
  const [first, second] = servers;
  await query(first.url, "create table only_here ()");
  expect(await query(second.url, "select from pg_class where relname = 'only_here'")).toEqual([]);
});

test.concurrent.for(["SIGINT", "SIGTERM", "SIGKILL"] as const)(
  "a process that ends by %s leaves neither a server nor a folder",
  async (signal) => {
    const script = fileURLToPath(new URL("./fixtures/hold-server.mjs", import.meta.url));
    const owner = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
    const printed = await new Promise<string>((resolve) => owner.stdout.once("data", (data: Buffer) => resolve(String(data))));
    const { url, folder } = JSON.parse(printed) as { readonly url: string; readonly folder: string };
    expect(await query(url, "select 1 as one")).toEqual([{ one: 1 }]);

    const ended = new Promise((resolve) => owner.once("exit", (_code, by) => resolve(by)));
    owner.kill(signal);

    expect(await ended).toBe(signal);
    await vi.waitUntil(() => !existsSync(folder), { timeout: 10_000 });
    expect(await accepts("127.0.0.1", Number(new URL(url).port))).toBe(false);
  },
);
