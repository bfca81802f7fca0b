import type { Options, PostgresType, Sql } from "postgres";
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
import { PostgresJsConnection, type SocketOptions } from "./postgres-js-connection.js";

const defaultConnectTimeoutSeconds = 10;
const maxTimerMs = 2_147_483_647;

/** What is about a pool, and not about the one connection that listens. */
type OfPools = "max" | "idle_timeout" | "max_lifetime" | "fetch_types" | "onclose" | "timeout" | "backoff" | "connect_timeout";

/** Everything that `postgres()` takes but what is about pools; what is left out comes from the environment (`PGHOST` …), as always. */
export interface PostgresJsListenerOptions extends Omit<Options<Record<string, PostgresType>>, OfPools> {
  /**
   * How long the server may be silent before it is asked for a sign of life. When it does not answer within five seconds, the
   * connection is given up and a new one made: behind a failover, a NAT or a firewall a flow can vanish without an error. A
   * statement of the worker that runs on this connection for longer than both times together is taken for dead, too.
   *
   * `keep_alive` is another: postgres.js' own option, the keep-alive of TCP.
   *
   * @default "10s"
   */
  readonly keepAlive?: Duration | undefined;
  /** How long connecting and `LISTEN` may take together, in **seconds**, as postgres.js counts. @default 10 */
  readonly connect_timeout?: number | undefined;
  /** Makes the socket, already connected: for tunnels and proxies. postgres.js has it, and does not declare it. */
  readonly socket?: SocketOptions["socket"];
}

/**
 * Listens for the notifications that wake a worker, on a connection of its own outside any pool. It has to reach the server
 * directly, or through a pooler in session mode: one in transaction mode takes LISTEN and delivers nothing.
 *
 * A lost connection is reported once and made again, first within 100 ms, then ever more slowly, at last every 5 to 10 s.
 * While it is up the worker runs its heartbeats on it, so that they never wait for a pool that handlers hold. It is called
 * `queue listener` in `pg_stat_activity`, unless `connection.application_name` or PGAPPNAME says otherwise.
 *
 * @throws QueueError `INVALID_OPTION` for a wrong `keepAlive` or something else that is neither a URL nor options, at once;
 *   for what postgres.js refuses, when the worker starts
 * @example createWorker({ queue, db, listener: postgresJsListener(process.env.DATABASE_URL), handlers });
 */
export function postgresJsListener(options?: PostgresJsListenerOptions): Listener;
/** The same, with a URL as `postgres(url, options)` takes it; without one the environment says where (`PGHOST` …). */
export function postgresJsListener(url: string | undefined, options?: PostgresJsListenerOptions): Listener;
export function postgresJsListener(first: string | PostgresJsListenerOptions = {}, second: PostgresJsListenerOptions = {}): Listener {
  const url = typeof first === "string" ? first : undefined;
  const options = typeof first === "string" ? second : { ...refuseOtherThanOptions(first), ...second };
  const { keepAlive, connect_timeout: connectTimeout, ...config } = refuseOtherThanOptions(options);
  const keepAliveMs = parseDuration(keepAlive ?? "10s", "keepAlive", { minMs: 1, maxMs: maxTimerMs });
  const connectTimeoutMs = (connectTimeout || defaultConnectTimeoutSeconds) * 1_000;
  return {
    adapter: "postgres-js",
    async listen(channel: string, events: ListenerEvents): Promise<Subscription> {
      const quotedChannel = quoteChannel(channel);
      const postgres = await loadPostgres(url);
      refuseBadConfig(postgres, config);
      let sessions = 0;
      const subscription = new ReconnectingSubscription(
        {
          adapter: "postgres-js",
          // Of several hosts another each time: the first may be one that answers, and is not the primary.
          openConnection: (heard) => new PostgresJsConnection({ postgres, config, firstHost: sessions++ }, heard),
          quotedChannel,
          keepAliveMs,
          connectTimeoutMs,
        },
        events,
      );
      await subscription.start();
      return subscription;
    },
  };
}

/** Here and not at the head of the file: who only enqueues through `fromPostgresJs` has no need to load it. */
async function loadPostgres(url: string | undefined): Promise<(options: SocketOptions) => Sql> {
  const { default: postgres } = await import("postgres");
  return (options) => (url === undefined ? postgres(options) : postgres(url, options));
}

/** What it refuses (a malformed URL) does not get better by trying again. It connects only with the first statement. */
function refuseBadConfig(postgres: (options: SocketOptions) => Sql, config: SocketOptions): void {
  try {
    postgres(config);
  } catch (cause) {
    throw queueError(
      "INVALID_OPTION",
      `postgresJsListener was given what postgres() refuses: ${cause instanceof Error ? cause.message : String(cause)}`,
      { option: "postgresJsListener" },
      { cause },
    );
  }
}

function refuseOtherThanOptions(options: PostgresJsListenerOptions): PostgresJsListenerOptions {
  if (typeof options === "object" && options !== null) return options;
  throw queueError(
    "INVALID_OPTION",
    `postgresJsListener takes a URL or the options of postgres(), such as { host }, but was given ${showValue(options)}.`,
    { option: "postgresJsListener" },
  );
}
