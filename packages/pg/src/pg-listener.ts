import type { Client, ClientConfig } from "pg";
import {
  type Duration,
  type Listener,
  type ListenerEvents,
  parseDuration,
  queueError,
  quoteChannel,
  ReconnectingSubscription,
  type Subscription,
} from "@queue/core/adapter";
import { openPgConnection } from "./pg-connection.js";

const defaultConnectTimeoutMs = 10_000;
const maxTimerMs = 2_147_483_647;

/** Everything that `new pg.Client()` takes; what is left out comes from the environment (`PGHOST`, `PGUSER` …), as always with pg. */
export interface PgListenerOptions extends Omit<ClientConfig, "keepAlive"> {
  /**
   * How long the server may be silent before it is asked for a sign of life. When it does not answer within five seconds, the
   * connection is given up and a new one made: behind a failover, a NAT or a firewall a flow can vanish without an error. A
   * statement of the worker that runs on this connection for longer than both times together is taken for dead, too.
   *
   * A boolean is pg's own option of that name, the keep-alive of TCP, which is on unless it is `false`.
   *
   * @default "10s"
   */
  readonly keepAlive?: Duration | boolean | undefined;
}

/**
 * Listens for the notifications that wake a worker, on a connection of its own outside any pool. It has to reach the server
 * directly, or through a pooler in session mode: one in transaction mode takes LISTEN and delivers nothing.
 *
 * A lost connection is reported once and made again, first within 100 ms, then ever more slowly, at last every 5 to 10 s.
 * While it is up the worker runs its heartbeats on it, so that they never wait for a pool that handlers hold. It is called
 * `queue listener` in `pg_stat_activity`, unless `application_name` or PGAPPNAME says otherwise.
 *
 * @throws QueueError `INVALID_OPTION` for a wrong `keepAlive`, at once; for what pg refuses, when the worker starts
 * @example createWorker({ queue, db, listener: pgListener({ connectionString: process.env.DATABASE_URL }), handlers });
 */
export function pgListener(options: PgListenerOptions = {}): Listener {
  if (typeof options !== "object" || options === null) {
    throw queueError(
      "INVALID_OPTION",
      `pgListener takes the options of a pg.Client, such as { connectionString }, but was given ${typeof options}.`,
      {
        option: "pgListener",
      },
    );
  }
  const { keepAlive, connectionTimeoutMillis, ...clientConfig } = options;
  const keepAliveMs = parseDuration(typeof keepAlive === "boolean" || keepAlive === undefined ? "10s" : keepAlive, "keepAlive", {
    minMs: 1,
    maxMs: maxTimerMs,
  });
  const config: ClientConfig = { fallback_application_name: "queue listener", ...clientConfig, keepAlive: keepAlive !== false };
  return {
    adapter: "pg",
    async listen(channel: string, events: ListenerEvents): Promise<Subscription> {
      const quotedChannel = quoteChannel(channel);
      const Client = await loadClient();
      refuseBadConfig(Client, config);
      const subscription = new ReconnectingSubscription(
        {
          adapter: "pg",
          openConnection: (heard) => openPgConnection(new Client(config), heard),
          quotedChannel,
          keepAliveMs,
          connectTimeoutMs: connectionTimeoutMillis || defaultConnectTimeoutMs,
        },
        events,
      );
      await subscription.start();
      return subscription;
    },
  };
}

/** Here and not at the head of the file: who only enqueues through `fromPg` has no need to load it. */
async function loadClient(): Promise<typeof Client> {
  const { default: pg } = await import("pg");
  return pg.Client;
}

/** What the constructor refuses (a malformed connection string) does not get better by trying again. */
function refuseBadConfig(Client: new (config: ClientConfig) => Client, config: ClientConfig): void {
  try {
    new Client(config).connection.stream.destroy();
  } catch (cause) {
    throw queueError(
      "INVALID_OPTION",
      `pgListener was given options that pg refuses: ${cause instanceof Error ? cause.message : String(cause)}`,
      { option: "pgListener" },
      { cause },
    );
  }
}
