import type { Duplex } from "node:stream";
import type { Options, PostgresType, Sql } from "postgres";
import { type ExecutableQuery, queueError, sqlStateOf } from "@queue/core/adapter";
import { openSocket, type SocketTarget } from "./open-socket.js";
import { runStatement } from "./run-statement.js";

/** How long the server may take to answer `select 1`. */
const answerTimeoutMs = 5_000;
/** How long a goodbye may take before the socket is destroyed: a half-open connection never answers it. */
const goodbyeTimeoutMs = 1_000;
/** read_only_sql_transaction: the server was demoted, and a new connection may find the new primary. */
const readOnlyServer = "25006";

/** The options of postgres.js, and those that it has and does not declare. */
export interface SocketOptions extends Options<Record<string, PostgresType>> {
  /** Makes the socket, already connected: for tunnels and proxies. */
  readonly socket?: ((target: SocketTarget) => Duplex | Promise<Duplex>) | undefined;
}

export interface PostgresJsSessionOptions {
  /** The function, because the package is loaded only when somebody listens. */
  readonly postgres: (options: SocketOptions) => Sql;
  readonly config: SocketOptions;
  /** A quoted identifier. */
  readonly quotedChannel: string;
  /** For connecting and listening together. */
  readonly connectTimeoutMs: number;
  /** How long the server may be silent before it is asked for a sign of life. */
  readonly keepAliveMs: number;
  /** Which of several hosts is tried first. */
  readonly firstHost: number;
  readonly onNotification: (payload: string) => void;
  /** Gives up an attempt to connect. */
  readonly signal: AbortSignal;
}

interface PendingStatement {
  readonly query: ExecutableQuery;
  resolve(result: { rows: unknown[] }): void;
  reject(error: unknown): void;
}

/**
 * One connection that listens, from connecting to its loss: a `postgres()` of one connection, whose `onnotify` hears what
 * comes on it. `sql.listen()` would do the same on a connection that is out of reach, so that statements ran on another.
 *
 * postgres.js connects again by itself, silently, to a session that neither listens nor holds our locks. Therefore the socket
 * is made here, and only once: what lost it stays lost. It is lost when it closes, when the server is silent for longer than
 * `keepAliveMs` and then does not answer `select 1` in time (a flow that was dropped on the way says nothing for a quarter of
 * an hour), or when it finds itself on a server that became read-only.
 *
 * Statements run one by one, so that the question for a sign of life is one of them. A statement that runs for longer than
 * the server may be silent is taken for a dead connection.
 */
export class PostgresJsSession {
  /** Resolves to the reason, once. */
  readonly lost: Promise<unknown>;
  readonly #sql: Sql;
  readonly #opening = new AbortController();
  #socket: Duplex | undefined;
  readonly #statements: PendingStatement[] = [];
  #active: PendingStatement | undefined;
  #loss: { readonly error: unknown } | undefined;
  #announceLoss: (error: unknown) => void = () => {};
  #keepAlive: NodeJS.Timeout | undefined;
  #answer: NodeJS.Timeout | undefined;
  #closed: Promise<void> | undefined;

  /** Connects and listens; rejects when it cannot. */
  static async open(options: PostgresJsSessionOptions): Promise<PostgresJsSession> {
    const { signal, connectTimeoutMs } = options;
    signal.throwIfAborted();
    const session = new PostgresJsSession(options);
    const abort = () => session.#lose(new Error("The listener was closed."));
    signal.addEventListener("abort", abort, { once: true });
    const giveUp = setTimeout(() => session.#lose(new Error(`The server did not answer within ${connectTimeoutMs} ms.`)), connectTimeoutMs);
    try {
      await Promise.race([session.#start(options), session.lost.then((error) => Promise.reject(error as Error))]);
      return session;
    } catch (error) {
      session.#lose(error);
      throw error;
    } finally {
      clearTimeout(giveUp);
      signal.removeEventListener("abort", abort);
    }
  }

  private constructor({ postgres, config, firstHost, onNotification }: PostgresJsSessionOptions) {
    this.lost = new Promise((resolve) => (this.#announceLoss = resolve));
    const own = {
      max: 1,
      idle_timeout: undefined,
      max_lifetime: null,
      fetch_types: false,
      socket: (target: SocketTarget) => this.#openSocket(config, target, firstHost),
      onclose: () => this.#lose(new Error("The server closed the connection.")),
      onnotify: (_channel: string, payload: string) => {
        this.#heard();
        if (this.#loss === undefined) onNotification(payload);
      },
    };
    this.#sql = postgres({ onnotice: () => {}, ...config, ...own });
    nameConnection(this.#sql);
  }

  /** Runs `query`; rejects with a retryable error when the connection is lost before it answered. */
  execute<R>(query: ExecutableQuery): Promise<{ rows: R[] }> {
    return new Promise((resolve, reject) => {
      if (this.#loss !== undefined) {
        reject(connectionLost(this.#loss.error));
        return;
      }
      this.#statements.push({ query, resolve: resolve as PendingStatement["resolve"], reject });
      this.#runNext();
    });
  }

  /** Says goodbye and closes the socket. Safe to call twice. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const wasIdle = this.#loss === undefined && this.#active === undefined;
    this.#markLost(new Error("The listener was closed."));
    // Its timeout counts in seconds, and ends in a goodbye whose answer nobody waits for.
    if (wasIdle) await this.#sql.end({ timeout: goodbyeTimeoutMs / 1_000 });
    this.#socket?.destroy();
  }

  async #openSocket(config: SocketOptions, target: SocketTarget, first: number): Promise<Duplex> {
    const { signal } = this.#opening;
    try {
      if (this.#socket !== undefined) throw new Error("The server closed the connection.");
      this.#socket = config.socket === undefined ? await openSocket(target, { first, signal }) : await config.socket(target);
      signal.throwIfAborted();
      return this.#socket;
    } catch (error) {
      // With several hosts postgres.js would swallow it, and wait.
      this.#lose(error);
      throw error;
    }
  }

  async #start({ quotedChannel, keepAliveMs }: PostgresJsSessionOptions): Promise<void> {
    // It is idle by its nature; a limit that an administrator set would end it again and again.
    await this.execute({ sql: "select pg_catalog.set_config('idle_session_timeout', '0', false)", parameters: [] });
    await this.execute({ sql: `listen ${quotedChannel}`, parameters: [] });
    if (this.#loss === undefined) this.#keepAlive = setTimeout(() => this.#askForSignOfLife(), keepAliveMs);
  }

  #runNext(): void {
    if (this.#active !== undefined || this.#loss !== undefined) return;
    const statement = this.#statements.shift();
    if (statement === undefined) return;
    this.#active = statement;
    void this.#run(statement);
  }

  async #run(statement: PendingStatement): Promise<void> {
    try {
      statement.resolve(await runStatement(this.#sql, statement.query));
      this.#heard();
    } catch (error) {
      // After a loss it was rejected already, and this one changes nothing.
      statement.reject(error);
      const sqlState = sqlStateOf(error);
      if (sqlState === readOnlyServer) this.#lose(error);
      else if (sqlState !== undefined) this.#heard();
    }
    this.#active = undefined;
    this.#runNext();
  }

  #heard(): void {
    if (this.#loss !== undefined) return;
    clearTimeout(this.#answer);
    this.#answer = undefined;
    this.#keepAlive?.refresh();
  }

  #askForSignOfLife(): void {
    this.#answer = setTimeout(() => {
      // A process that was busy for long finds the timer due before it has read its sockets: let it read them first.
      setImmediate(() => {
        if (this.#answer !== undefined)
          this.#lose(new Error(`The server has been silent for too long: no answer to "select 1" within ${answerTimeoutMs} ms.`));
      });
    }, answerTimeoutMs);
    this.execute({ sql: "select 1", parameters: [] }).catch(() => {
      // An answer that is an error is an answer; and a loss is reported by `lost`.
    });
  }

  #lose(error: unknown): void {
    this.#markLost(error);
    this.#opening.abort(error);
    this.#socket?.destroy();
  }

  #markLost(error: unknown): void {
    if (this.#loss !== undefined) return;
    this.#loss = { error };
    clearTimeout(this.#keepAlive);
    clearTimeout(this.#answer);
    this.#answer = undefined;
    for (const statement of [this.#active, ...this.#statements.splice(0)]) statement?.reject(connectionLost(error));
    this.#announceLoss(error);
  }
}

/** What nobody has named is called by postgres.js like the connections of its pools. */
function nameConnection({ options }: Sql): void {
  if (options.connection.application_name === "postgres.js") options.connection.application_name = "queue listener";
}

/** What a statement on the listener's connection rejects with while that is down. */
export function connectionLost(cause: unknown) {
  const sqlState = sqlStateOf(cause);
  return queueError(
    "DATABASE_ERROR",
    `The listener's connection is down: ${cause instanceof Error ? cause.message : String(cause)}`,
    { sqlState },
    { cause, isRetryable: true },
  );
}
