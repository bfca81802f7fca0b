import { describe, expect, test } from "vitest";
import type { ListeningConnection, ListeningConnectionEvents } from "./listening-connection.js";
import { ListeningSession, type ListeningSessionOptions } from "./listening-session.js";

/** A driver without a network: it writes down what it is told, and answers when the test says so. */
class FakeConnection implements ListeningConnection {
  readonly told: string[] = [];
  /** Statements from now on wait for `answer`. */
  isSlow = false;
  #answer: () => void = () => {};
  #events: ListeningConnectionEvents | undefined;

  readonly open = (events: ListeningConnectionEvents): ListeningConnection => {
    this.#events = events;
    return this;
  };

  get events(): ListeningConnectionEvents {
    if (this.#events === undefined) throw new Error("It was not opened.");
    return this.#events;
  }

  async connect(): Promise<void> {
    this.told.push("connect");
  }

  run<R>({ sql }: { readonly sql: string }): Promise<{ rows: R[] }> {
    this.told.push(sql);
    return new Promise((resolve) => {
      this.#answer = () => resolve({ rows: [] });
      if (!this.isSlow) this.#answer();
    });
  }

  answer(): void {
    this.#answer();
  }

  async sayGoodbye(): Promise<void> {
    this.told.push("goodbye");
  }

  cutOff(): void {
    this.told.push("cut off");
  }
}

async function openSession(connection: FakeConnection, options: Partial<ListeningSessionOptions> = {}) {
  const session = await ListeningSession.open({
    openConnection: connection.open,
    quotedChannel: '"mine"',
    connectTimeoutMs: 60_000,
    keepAliveMs: 60_000,
    onNotification() {},
    signal: new AbortController().signal,
    ...options,
  });
  connection.told.length = 0;
  return session;
}

const statement = (sql: string) => ({ sql, parameters: [] });

describe("a session", () => {
  test("connects, lifts the limit on idle sessions, and listens", async () => {
    const connection = new FakeConnection();
    const told = connection.told;
    const session = await ListeningSession.open({
      openConnection: connection.open,
      quotedChannel: '"mine"',
      connectTimeoutMs: 60_000,
      keepAliveMs: 60_000,
      onNotification() {},
      signal: new AbortController().signal,
    });
    expect(told).toEqual(["connect", "select pg_catalog.set_config('idle_session_timeout', '0', false)", 'listen "mine"']);
    await session.close();
  });

  test("gives its connection one statement at a time", async () => {
    const connection = new FakeConnection();
    const session = await openSession(connection);
    connection.isSlow = true;
    const first = session.execute(statement("first"));
    const second = session.execute(statement("second"));
    expect(connection.told).toEqual(["first"]);
    connection.answer();
    await first;
    await expect.poll(() => connection.told).toEqual(["first", "second"]);
    connection.answer();
    await second;
    await session.close();
  });

  test("passes on what it hears until it is lost, and nothing after that", async () => {
    const connection = new FakeConnection();
    const heard: string[] = [];
    const session = await openSession(connection, { onNotification: (payload) => heard.push(payload) });
    connection.events.onNotification("before");
    connection.events.onLoss(new Error("gone"));
    connection.events.onNotification("after");
    expect(heard).toEqual(["before"]);
    await session.close();
  });

  test("is lost for the first of several reasons, and cut off", async () => {
    const connection = new FakeConnection();
    const session = await openSession(connection);
    connection.events.onLoss(new Error("first"));
    connection.events.onLoss(new Error("second"));
    expect(await session.lost).toEqual(new Error("first"));
    expect(connection.told).toContain("cut off");
    await expect(session.execute(statement("late"))).rejects.toMatchObject({
      code: "DATABASE_ERROR",
      message: "The listener's connection is down: first",
      isRetryable: true,
      cause: new Error("first"),
    });
  });
});

describe("closing a session", () => {
  test("says goodbye once, and then cuts it off", async () => {
    const connection = new FakeConnection();
    const session = await openSession(connection);
    await Promise.all([session.close(), session.close()]);
    expect(connection.told).toEqual(["goodbye", "cut off"]);
  });

  test("cuts it off all the same when the goodbye fails", async () => {
    const connection = new FakeConnection();
    connection.sayGoodbye = () => Promise.reject(new Error("write EPIPE"));
    const session = await openSession(connection);
    await session.close();
    expect(connection.told).toEqual(["cut off"]);
  });

  test("says no goodbye while a statement runs, which would wait for its end", async () => {
    const connection = new FakeConnection();
    const session = await openSession(connection);
    connection.isSlow = true;
    const [running] = await Promise.allSettled([session.execute(statement("running")), session.close()]);
    expect(running).toMatchObject({ status: "rejected", reason: { code: "DATABASE_ERROR" } });
    expect(connection.told).toEqual(["running", "cut off"]);
  });

  test("says no goodbye on a connection that is lost", async () => {
    const connection = new FakeConnection();
    const session = await openSession(connection);
    connection.events.onLoss(new Error("gone"));
    await session.close();
    expect(connection.told).not.toContain("goodbye");
  });
});

describe("opening a session", () => {
  test("is given up by its signal, and the connection cut off", async () => {
    const connection = new FakeConnection();
    const closing = new AbortController();
    connection.isSlow = true;
    const opening = openSession(connection, { signal: closing.signal });
    closing.abort();
    await expect(opening).rejects.toThrow("The listener was closed.");
    expect(connection.told).toContain("cut off");
  });
});
