import type { Client, ClientConfig } from "@neondatabase/serverless";
import {
  type Duration,
  type Listener,
  type ListenerEvents,
  parseDuration,
  queueError,
  quoteChannel,
  ReconnectingSubscription,
  showValue,
  type Subscription,
} from "@queue/core/adapter";
import { openNeonConnection } from "./neon-connection.js";

const defaultConnectTimeoutMs = 10_000;
const maxTimerMs = 2_147_483_647;

/** Everything that `new Client()` of Neon's driver takes; what is left out comes from the environment (`PGHOST`, `PGUSER` …). */
export interface NeonListenerOptions extends Omit<ClientConfig, "keepAlive"> {
  /**
   * How long the server may be silent before it is asked for a sign of life. When it does not answer within five seconds, the
   * connection is given up and a new one made: a compute that moved or a flow that was dropped on the way says nothing. A
   * statement of the worker that runs on this connection for longer than both times together is taken for dead, too.
   *
   * @default "10s"
   */
  readonly keepAlive?: Duration | undefined;
}

/**
 * Listens for the notifications that wake a worker, on a WebSocket of its own outside any pool. It needs Neon's direct host:
 * the one with `-pooler` in its name takes LISTEN and delivers nothing.
 *
 * A lost connection is reported once and made again, first within 100 ms, then ever more slowly, at last every 5 to 10 s.
 * While it is up the worker runs its heartbeats on it, so that they never wait for a pool that handlers hold. It is called
 * `queue listener` in `pg_stat_activity`, unless `application_name` or PGAPPNAME says otherwise. `neonConfig` counts here, too:
 * below Node 22 set `neonConfig.webSocketConstructor`.
 *
 * @throws QueueError `INVALID_OPTION` for a wrong `keepAlive`, at once; for what the driver refuses, when the worker starts
 * @example createWorker({ queue, db, listener: neonListener({ connectionString: process.env.DATABASE_URL_UNPOOLED }), handlers });
 */
export function neonListener(options: NeonListenerOptions = {}): Listener {
  if (typeof options !== "object" || options === null) {
    throw queueError(
      "INVALID_OPTION",
      `neonListener takes the options of a Client, such as { connectionString }, but was given ${showValue(options)}.`,
      { option: "neonListener" },
    );
  }
  const { keepAlive, connectionTimeoutMillis, ...clientConfig } = options;
  const keepAliveMs = parseDuration(keepAlive ?? "10s", "keepAlive", { minMs: 1, maxMs: maxTimerMs });
  const config: ClientConfig = { fallback_application_name: "queue listener", ...clientConfig };
  return {
    adapter: "neon",
    async listen(channel: string, events: ListenerEvents): Promise<Subscription> {
      const quotedChannel = quoteChannel(channel);
      const Client = await loadClient();
      refuseBadConfig(Client, config);
      const subscription = new ReconnectingSubscription(
        {
          adapter: "neon",
          openConnection: (heard) => openNeonConnection(new Client(config), heard),
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

/** Here and not at the head of the file: who only enqueues through `fromNeon` has no need to load it. */
async function loadClient(): Promise<typeof Client> {
  const neon = await import("@neondatabase/serverless");
  return neon.Client;
}

/** What the constructor refuses (a malformed connection string) does not get better by trying again. */
function refuseBadConfig(Client: new (config: ClientConfig) => Client, config: ClientConfig): void {
  try {
    // It connects to nothing before connect().
    void new Client(config).connection;
  } catch (cause) {
    throw queueError(
      "INVALID_OPTION",
      `neonListener was given options that the driver refuses: ${cause instanceof Error ? cause.message : String(cause)}`,
      { option: "neonListener" },
      { cause },
    );
  }
}
