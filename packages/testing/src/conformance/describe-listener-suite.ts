import { afterAll, beforeAll, onTestFinished } from "vitest";
import type { Duration, Executor, Listener } from "@queue/core";
import type { Subscription } from "@queue/core/adapter";
import { type HeardEvents, hearEvents } from "./describe-listener-events.js";
import { openStallingProxy, type StallingProxy } from "./describe-listener-proxy.js";

/** How a listener is wanted; what is left out is left to its defaults. */
export interface ListenerSettings {
  /** The database, straight or through a proxy of the suite. */
  readonly url: string;
  /** How long the server may be silent before it is asked for a sign of life. */
  readonly keepAlive?: Duration | undefined;
  /** For connecting and listening together. */
  readonly connectTimeoutMs?: number | undefined;
  /** The name that the user gives to the connection. */
  readonly applicationName?: string | undefined;
}

/** What an adapter brings to the suite of listeners: a database, and a way to listen to it. */
export interface ListenerAdapter {
  /** The database, of whose server the suite makes proxies: `postgres://user:password@host:port/database`, without TLS. */
  readonly url: string;
  listener(settings: ListenerSettings): Listener;
  /** Runs a statement on a connection that is not the listener's, by a role that may end its backend; the rows. */
  run(sql: string, parameters: readonly unknown[]): Promise<readonly unknown[]>;
  /** What the driver says when the server has ended the backend, as patterns of `toMatchObject`. */
  readonly whenTerminated: {
    /** What the listener reports. */
    readonly loss: object;
    /** What the statement rejects with that was running. */
    readonly statement: object;
  };
  close(): Promise<void>;
}

/** A channel that a test listens to, until it ends. */
export interface Listening {
  readonly subscription: Subscription;
  readonly events: HeardEvents;
  /** Statements on the listener's connection. */
  readonly executor: Executor;
}

/** What a test of the suite works with. */
export interface ListenerSuite {
  /** Makes a listener of the adapter, on the database itself unless `url` says otherwise. */
  listener(settings?: Partial<ListenerSettings>): Listener;
  /** Listens with such a one. */
  listen(channel: string, settings?: Partial<ListenerSettings>): Promise<Listening>;
  notify(channel: string, payload: string): Promise<void>;
  /** The process id of the backend that listens. */
  backendOf(listening: Listening): Promise<number>;
  /** Ends a backend, as an administrator or a failover does. */
  terminate(pid: number): Promise<void>;
  /** Runs a statement on another connection; its rows. */
  run(sql: string, parameters?: readonly unknown[]): Promise<readonly unknown[]>;
  /** A proxy before the server, closed at the end of the test. */
  openProxy(): Promise<StallingProxy>;
  readonly whenTerminated: ListenerAdapter["whenTerminated"];
}

/** Opens the adapter once. */
export function useListenerSuite(open: () => Promise<ListenerAdapter>): ListenerSuite {
  let adapter: ListenerAdapter;
  beforeAll(async () => {
    adapter = await open();
  });
  afterAll(async () => {
    await adapter?.close();
  });

  const listener = (settings: Partial<ListenerSettings> = {}) => adapter.listener({ url: adapter.url, ...settings });
  const run = (sql: string, parameters: readonly unknown[] = []) => adapter.run(sql, parameters);
  return {
    listener,
    run,
    async listen(channel, settings) {
      const events = hearEvents();
      const subscription = await listener(settings).listen(channel, events);
      onTestFinished(() => subscription.close());
      const { executor } = subscription;
      if (executor === undefined) throw new Error("The subscription has no executor.");
      return { subscription, events, executor };
    },
    notify: async (channel, payload) => void (await run("select 1 as ok from pg_notify($1::text, $2::text)", [channel, payload])),
    async backendOf({ executor }) {
      const { rows } = await executor.execute<{ pid: number }>({ sql: "select pg_backend_pid() as pid", parameters: [] });
      return rows[0]?.pid ?? Number.NaN;
    },
    terminate: async (pid) => void (await run("select pg_terminate_backend($1::int)", [pid])),
    async openProxy() {
      const proxy = await openStallingProxy(adapter.url);
      onTestFinished(() => proxy[Symbol.asyncDispose]());
      return proxy;
    },
    get whenTerminated() {
      return adapter.whenTerminated;
    },
  };
}
