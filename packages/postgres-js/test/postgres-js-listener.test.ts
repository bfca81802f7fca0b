import { describe, expect, onTestFinished, test } from "vitest";
import { QueueError } from "@queue/core";
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

describe("listening", () => {
  test("hears what is notified on its channel and nothing else", async () => {
    const { events } = await listen("mine");
    expect(events.listenings).toBe(1);
    await notify("other", "not for us");
    await notify("mine", "first");
    await notify("mine", "");
    await events.until("notification", 2);
    expect(events.notifications).toEqual(["first", ""]);
    expect(events.errors).toEqual([]);
  });

  test.each(["MyQueue", "queue-1", 'with "quotes"', "ουρά", "q".repeat(63)])(
    "takes the name of the channel as it is: %s",
    async (channel) => {
      const { events } = await listen(channel);
      await notify(channel, "heard");
      await events.until("notification", 1);
      expect(events.notifications).toEqual(["heard"]);
    },
  );

  test.each(["", "q".repeat(64), "ο".repeat(32), "a\0b"])(
    "refuses a name that LISTEN and pg_notify take differently: %j",
    async (channel) => {
      await expect(postgresJsListener(database.url).listen(channel, hearEvents())).rejects.toSatisfy((error) =>
        QueueError.is(error, "INVALID_OPTION"),
      );
    },
  );

  test("is called queue listener in pg_stat_activity, unless the user has named it", async () => {
    const { subscription: unnamed } = await listen("names");
    const { subscription: named } = await listen("names", { connection: { application_name: "shop worker" } });
    const { rows } = await database.pool.query("select pid, application_name from pg_stat_activity where pid = any($1)", [
      [await backendOf(unnamed), await backendOf(named)],
    ]);
    expect(new Map(rows.map(({ pid, application_name }) => [pid, application_name]))).toEqual(
      new Map([
        [await backendOf(unnamed), "queue listener"],
        [await backendOf(named), "shop worker"],
      ]),
    );
  });

  test("runs statements on its own connection, one after the other", async () => {
    const { subscription } = await listen("statements");
    const values = await Promise.all(
      [1, 2, 3].map(
        async (value) => (await subscription.executor?.execute({ sql: "select $1::int as value", parameters: [value] }))?.rows[0],
      ),
    );
    expect(values).toEqual([{ value: 1 }, { value: 2 }, { value: 3 }]);
    await expect(subscription.executor?.execute({ sql: "select 1 / 0", parameters: [] })).rejects.toMatchObject({ code: "22012" });
    expect(await backendOf(subscription)).toBeGreaterThan(0);
  });

  test("refuses what postgres() refuses, instead of trying them for ever", async () => {
    const listener = postgresJsListener("postgres://localhost:port/db");
    await expect(listener.listen("bad", hearEvents())).rejects.toSatisfy((error) => QueueError.is(error, "INVALID_OPTION"));
    expect(() => postgresJsListener({ keepAlive: "ten seconds" as never })).toThrow(/keepAlive/);
    expect(() => postgresJsListener(5 as never)).toThrow(/takes a URL or the options/);
  });
});

describe("a lost connection", () => {
  test("is made again: it listens on, and the loss was reported once", async () => {
    const { subscription, events } = await listen("lost");
    const before = await backendOf(subscription);
    await terminate(before);
    await events.until("listening", 2);
    expect(events.errors).toHaveLength(1);
    expect(String(events.errors[0])).toContain("The server closed the connection");
    expect(await backendOf(subscription)).not.toBe(before);
    await notify("lost", "again");
    await events.until("notification", 1);
    expect(events.notifications).toEqual(["again"]);
  });

  test("is reported once each time", async () => {
    const { subscription, events } = await listen("lost-often");
    for (const round of [1, 2, 3]) {
      await terminate(await backendOf(subscription));
      await events.until("listening", round + 1);
      expect(events.errors).toHaveLength(round);
    }
  });

  test("rejects the statements that run or wait, with an error that is worth a retry", async () => {
    const { subscription } = await listen("lost-busy");
    const pid = await backendOf(subscription);
    const running = subscription.executor?.execute({ sql: "select pg_sleep(60)", parameters: [] });
    const waiting = subscription.executor?.execute({ sql: "select 1", parameters: [] });
    await expect
      .poll(
        async () =>
          (await database.pool.query("select state from pg_stat_activity where pid = $1 and query like '%pg_sleep%'", [pid])).rows,
      )
      .toEqual([{ state: "active" }]);
    const outcomes = Promise.allSettled([running, waiting]);
    await terminate(pid);
    const [first, second] = await outcomes;
    expect(first).toMatchObject({ status: "rejected", reason: { code: "DATABASE_ERROR", isRetryable: true } });
    expect(second).toMatchObject({ status: "rejected", reason: { code: "DATABASE_ERROR", isRetryable: true } });
  });

  test("is given up on a server that became read-only, where nothing of ours can work", async () => {
    const { subscription, events } = await listen("read-only");
    const before = await backendOf(subscription);
    await subscription.executor?.execute({ sql: "set default_transaction_read_only = on", parameters: [] });
    await expect(subscription.executor?.execute({ sql: "create table t (id int)", parameters: [] })).rejects.toMatchObject({
      code: "25006",
    });
    await events.until("listening", 2);
    expect(events.errors).toHaveLength(1);
    expect(await backendOf(subscription)).not.toBe(before);
  });
});

describe("a first attempt that fails", () => {
  test("resolves, is reported once, and is made again until it succeeds", async () => {
    const proxy = await openProxy();
    proxy.treatment = "refuse";
    const { subscription, events } = await listen("late", { url: through(proxy) });
    expect(events.listenings).toBe(0);
    await expect(subscription.executor?.execute({ sql: "select 1", parameters: [] })).rejects.toMatchObject({
      code: "DATABASE_ERROR",
      isRetryable: true,
    });
    await proxy.untilConnections(3);
    proxy.treatment = "forward";
    await events.until("listening", 1);
    expect(events.errors).toHaveLength(1);
    await notify("late", "there");
    await events.until("notification", 1);
  });

  test("does not wait for ever for a server that says nothing", async () => {
    const proxy = await openProxy();
    proxy.treatment = "silence";
    const { events } = await listen("silent", { url: through(proxy), connect_timeout: 0.1 });
    expect(events.errors).toHaveLength(1);
    proxy.treatment = "forward";
    await events.until("listening", 1);
  });
});

describe("a half-open connection", () => {
  test("is found out by its silence and made again; a statement that waits on it is rejected", async () => {
    const proxy = await openProxy();
    const { subscription, events } = await listen("half-open", { url: through(proxy), keepAlive: "100ms" });
    const before = await backendOf(subscription);
    proxy.stall();
    const statement = subscription.executor?.execute({ sql: "select 1", parameters: [] });
    await expect(statement).rejects.toMatchObject({ code: "DATABASE_ERROR", isRetryable: true });
    await events.until("listening", 2);
    expect(events.errors).toHaveLength(1);
    expect(String(events.errors[0])).toContain("silent for too long");
    expect(await backendOf(subscription)).not.toBe(before);
    await notify("half-open", "again");
    await events.until("notification", 1);
  });

  test("does not keep close() waiting", async () => {
    const proxy = await openProxy();
    const { subscription, events } = await listen("half-open-close", { url: through(proxy) });
    proxy.stall();
    await subscription.close();
    expect(events.errors).toEqual([]);
  });
});

describe("a connection that is up", () => {
  test("is asked for a sign of life only while it is silent, and stays the same", async () => {
    const { subscription, events } = await listen("alive", { keepAlive: "10ms" });
    const before = await backendOf(subscription);
    const asked = async () => (await database.pool.query("select query from pg_stat_activity where pid = $1", [before])).rows;
    await expect.poll(asked, { timeout: 15_000 }).toEqual([{ query: "select 1" }]);
    expect(await backendOf(subscription)).toBe(before);
    expect(events.errors).toEqual([]);
  });
});

describe("close", () => {
  test("ends the session on the server and leaves neither sockets nor timers, also when called twice", async () => {
    // Loads postgres.js and opens the pool before the count.
    await listen("warm-up");
    await database.pool.query("select 1");
    const before = resources();
    const { subscription, events } = await listen("closed");
    const pid = await backendOf(subscription);
    await Promise.all([subscription.close(), subscription.close()]);
    await subscription.close();
    await expect.poll(async () => (await database.pool.query("select 1 from pg_stat_activity where pid = $1", [pid])).rows).toEqual([]);
    await expect.poll(resources).toEqual(before);
    await notify("closed", "unheard");
    expect(events.notifications).toEqual([]);
    expect(events.errors).toEqual([]);
    await expect(subscription.executor?.execute({ sql: "select 1", parameters: [] })).rejects.toMatchObject({ code: "DATABASE_ERROR" });
  });

  test("works while it connects", async () => {
    const proxy = await openProxy();
    const { subscription, events } = await listen("closed-connecting", { url: through(proxy) });
    proxy.treatment = "silence";
    await terminate(await backendOf(subscription));
    await proxy.untilConnections(2);
    await subscription.close();
    expect(events.listenings).toBe(1);
    expect(events.errors).toHaveLength(1);
  });

  test("works while it waits to connect again", async () => {
    const proxy = await openProxy();
    proxy.treatment = "refuse";
    const { subscription, events } = await listen("closed-waiting", { url: through(proxy) });
    await proxy.untilConnections(3);
    await subscription.close();
    expect(events.listenings).toBe(0);
  });

  test("rejects the statements that are still on their way", async () => {
    const { subscription } = await listen("closed-busy");
    const outcomes = Promise.allSettled(
      [1, 2].map(async () => subscription.executor?.execute({ sql: "select pg_sleep(60)", parameters: [] })),
    );
    await subscription.close();
    for (const outcome of await outcomes) expect(outcome).toMatchObject({ status: "rejected", reason: { code: "DATABASE_ERROR" } });
  });
});

async function openProxy(): Promise<StallingProxy> {
  const proxy = await openStallingProxy(database.url);
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  return proxy;
}

function through(proxy: StallingProxy): string {
  const url = new URL(database.url);
  url.hostname = "127.0.0.1";
  url.port = String(proxy.port);
  return url.href;
}

function resources(): string[] {
  return process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap" || name === "Timeout");
}
