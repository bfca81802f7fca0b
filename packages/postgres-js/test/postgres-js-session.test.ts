import { connect, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Subscription } from "@queue/core/adapter";
import { postgresJsListener, type PostgresJsListenerOptions } from "@queue/postgres-js";
import { useTestDatabase } from "@queue/test-database";
import { type HeardEvents, hearEvents } from "../../pg/test/heard-events.js";
import { openStallingProxy, type StallingProxy } from "../../pg/test/stalling-proxy.js";

const database = useTestDatabase({ template: "empty" });

async function listen(
  channel: string,
  { url = database.url, ...options }: PostgresJsListenerOptions & { url?: string } = {},
): Promise<{ subscription: Subscription; events: HeardEvents }> {
  const events = hearEvents();
  const subscription = await postgresJsListener(url, options).listen(channel, events);
  onTestFinished(() => subscription.close());
  return { subscription, events };
}

async function notify(channel: string, payload: string): Promise<void> {
  await database.pool.query("select pg_notify($1, $2)", [channel, payload]);
}

async function backendOf(subscription: Subscription): Promise<number> {
  const result = await subscription.executor?.execute<{ pid: number }>({ sql: "select pg_backend_pid() as pid", parameters: [] });
  return result?.rows[0]?.pid ?? Number.NaN;
}

async function terminate(pid: number): Promise<void> {
  await database.pool.query("select pg_terminate_backend($1)", [pid]);
}

/** In this database: others on the server hold keys of their own. */
const heldKeys =
  "from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())";

describe("the statements of the subscription", () => {
  test("run in the session that listens, and in no other: its locks go with the listening", async () => {
    const { subscription, events } = await listen("locks");
    const before = await backendOf(subscription);
    await subscription.executor?.execute({ sql: "select pg_advisory_lock_shared(1) as locked", parameters: [] });
    const { rows } = await database.pool.query(`select pid ${heldKeys}`);
    expect(rows).toMatchObject([{ pid: before }]);
    expect((await listeningChannels(subscription)).rows).toEqual([{ channel: "locks" }]);
    await terminate(before);
    await events.until("listening", 2);
    expect((await database.pool.query(`select ${heldKeys}`)).rowCount).toBe(0);
    expect((await listeningChannels(subscription)).rows).toEqual([{ channel: "locks" }]);
  });

  test("bring a session down with them that they end: nothing is connected again behind the listener's back", async () => {
    const { subscription, events } = await listen("suicide");
    const ending = subscription.executor?.execute({ sql: "select pg_terminate_backend(pg_backend_pid())", parameters: [] });
    await expect(ending).rejects.toMatchObject({ isRetryable: true });
    await events.until("listening", 2);
    expect(events.errors).toHaveLength(1);
    await notify("suicide", "heard");
    await events.until("notification", 1);
  });
});

describe("several hosts", () => {
  test("are tried in turn", async () => {
    const dead = await openProxy();
    const alive = await openProxy();
    dead.treatment = "refuse";
    const { username, password, pathname } = new URL(database.url);
    const credentials = { username, password: decodeURIComponent(password), database: pathname.slice(1) };
    const host = { host: `127.0.0.1:${dead.port},127.0.0.1:${alive.port}` };
    const events = hearEvents();
    const subscription = await postgresJsListener({ ...credentials, ...host }).listen("hosts", events);
    onTestFinished(() => subscription.close());
    await events.until("listening", 1);
    await notify("hosts", "heard");
    await events.until("notification", 1);
  });
});

describe("a socket of the caller's own", () => {
  test("is what it goes through", async () => {
    const proxy = await openProxy();
    const socket = () =>
      new Promise<Socket>((resolve) => {
        const opened: Socket = connect(proxy.port, "127.0.0.1", () => resolve(opened));
      });
    const { events } = await listen("own-socket", { socket });
    expect(events.listenings).toBe(1);
    await proxy.untilConnections(1);
  });
});

function listeningChannels(subscription: Subscription): Promise<{ rows: unknown[] }> {
  const { executor } = subscription;
  if (executor === undefined) throw new Error("It has no executor.");
  return executor.execute({ sql: "select pg_listening_channels() as channel", parameters: [] });
}

async function openProxy(): Promise<StallingProxy> {
  const proxy = await openStallingProxy(database.url);
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  return proxy;
}
