import type { Duplex } from "node:stream";
import type { Options, PostgresType, Sql } from "postgres";
import type { ExecutableQuery, ListeningConnection, ListeningConnectionEvents } from "@queue/core/adapter";
import { openSocket, type SocketTarget } from "./open-socket.js";
import { runStatement } from "./run-statement.js";

/** The options of postgres.js, and those that it has and does not declare. */
export interface SocketOptions extends Options<Record<string, PostgresType>> {
  /** Makes the socket, already connected: for tunnels and proxies. */
  readonly socket?: ((target: SocketTarget) => Duplex | Promise<Duplex>) | undefined;
}

export interface PostgresJsConnectionOptions {
  /** The function, because the package is loaded only when somebody listens. */
  readonly postgres: (options: SocketOptions) => Sql;
  readonly config: SocketOptions;
  /** Which of several hosts is tried first. */
  readonly firstHost: number;
}

/**
 * The connection of a listener: a `postgres()` of one connection, whose `onnotify` hears what comes on it. `sql.listen()` would
 * do the same on a connection that is out of reach, so that statements ran on another.
 *
 * postgres.js connects again by itself, silently, to a session that neither listens nor holds our locks. Therefore the socket
 * is made here, and only once: what lost it stays lost.
 */
export class PostgresJsConnection implements ListeningConnection {
  readonly #sql: Sql;
  readonly #options: PostgresJsConnectionOptions;
  readonly #onLoss: (error: unknown) => void;
  readonly #opening = new AbortController();
  #socket: Duplex | undefined;

  constructor(options: PostgresJsConnectionOptions, { onLoss, onNotification }: ListeningConnectionEvents) {
    this.#options = options;
    this.#onLoss = onLoss;
    const own = {
      max: 1,
      idle_timeout: undefined,
      max_lifetime: null,
      fetch_types: false,
      socket: (target: SocketTarget) => this.#openSocket(target),
      onclose: () => onLoss(new Error("The server closed the connection.")),
      onnotify: (_channel: string, payload: string) => onNotification(payload),
    };
    this.#sql = options.postgres({ onnotice: () => {}, ...options.config, ...own });
    nameConnection(this.#sql);
  }

  async connect(): Promise<void> {
    // The first statement does it.
  }

  run<R>(query: ExecutableQuery): Promise<{ rows: R[] }> {
    return runStatement(this.#sql, query);
  }

  sayGoodbye(): Promise<void> {
    return this.#sql.end();
  }

  cutOff(): void {
    this.#opening.abort();
    this.#socket?.destroy();
  }

  async #openSocket(target: SocketTarget): Promise<Duplex> {
    const { signal } = this.#opening;
    const { config, firstHost: first } = this.#options;
    try {
      if (this.#socket !== undefined) throw new Error("The server closed the connection.");
      this.#socket = config.socket === undefined ? await openSocket(target, { first, signal }) : await config.socket(target);
      signal.throwIfAborted();
      return this.#socket;
    } catch (error) {
      // With several hosts postgres.js would swallow it, and wait.
      this.#onLoss(error);
      throw error;
    }
  }
}

/** What nobody has named is called by postgres.js like the connections of its pools. */
function nameConnection({ options }: Sql): void {
  if (options.connection.application_name === "postgres.js") options.connection.application_name = "queue listener";
}
