import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { QueueError } from "@queue/core";
import type { ListenerEvents } from "@queue/core/adapter";
import { postgresJsListener } from "@queue/postgres-js";
import { useTestDatabase } from "@queue/test-database";

const database = useTestDatabase({ template: "empty" });
const unheard: ListenerEvents = { onListening() {}, onNotification() {}, onError() {} };

test("what postgres() refuses is refused, instead of being tried for ever", async () => {
  const listener = postgresJsListener("postgres://localhost:port/db");
  await expect(listener.listen("bad", unheard)).rejects.toSatisfy((error) => QueueError.is(error, "INVALID_OPTION"));
  expect(() => postgresJsListener({ keepAlive: "ten seconds" as never })).toThrow(/keepAlive/);
  expect(() => postgresJsListener(5 as never)).toThrow(/takes a URL or the options/);
});

describe("several hosts", () => {
  test("are tried in turn", async () => {
    const { hostname, port, username, password, pathname } = new URL(database.url);
    const credentials = { username, password: decodeURIComponent(password), database: pathname.slice(1) };
    const dead = await openRefusingServer();
    const listener = postgresJsListener({ ...credentials, host: `127.0.0.1:${dead.port},${hostname}:${port}` });
    let hear: (payload: string) => void = () => {};
    const heard = new Promise<string>((resolve) => (hear = resolve));
    let beginToHear: () => void = () => {};
    const listening = new Promise<void>((resolve) => (beginToHear = resolve));
    const subscription = await listener.listen("hosts", { ...unheard, onListening: beginToHear, onNotification: hear });
    onTestFinished(() => subscription.close());
    await listening;
    expect(dead.connections).toBe(1);
    await database.pool.query("select pg_notify('hosts', 'heard')");
    expect(await heard).toBe("heard");
  });
});

describe("a socket of the caller's own", () => {
  test("is what it goes through", async () => {
    const { hostname, port } = new URL(database.url);
    const opened: Socket[] = [];
    const socket = () =>
      new Promise<Socket>((resolve) => {
        const own: Socket = connect(Number(port), hostname, () => resolve(own));
        opened.push(own);
      });
    let listenings = 0;
    const subscription = await postgresJsListener(database.url, { socket }).listen("own-socket", {
      ...unheard,
      onListening: () => (listenings += 1),
    });
    onTestFinished(() => subscription.close());
    expect(listenings).toBe(1);
    expect(opened.map(({ bytesRead }) => bytesRead > 0)).toEqual([true]);
  });
});

/** A server that hangs up on whoever comes. */
async function openRefusingServer(): Promise<{ readonly port: number; readonly connections: number }> {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.close();
    await once(server, "close");
  });
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
  };
}
