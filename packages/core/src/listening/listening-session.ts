import type { ExecutableQuery } from "../ports/executor.js";
import { sqlStateOf } from "../ports/sql-state.js";
import { connectionLost } from "./connection-lost.js";
import type { ListeningConnection, OpenListeningConnection } from "./listening-connection.js";
import { SilenceWatch } from "./silence-watch.js";

/** How long a goodbye may take before the socket is destroyed: a half-open connection never answers it. */
const goodbyeTimeoutMs = 1_000;
/** read_only_sql_transaction: the server was demoted, and a new connection may find the new primary. */
const readOnlyServer = "25006";

export interface ListeningSessionOptions {
  /** Makes the driver's connection. */
  readonly openConnection: OpenListeningConnection;
  /** What `quoteChannel` has made of the channel. */
  readonly quotedChannel: string;
  /** For connecting and listening together. */
  readonly connectTimeoutMs: number;
  /** How long the server may be silent before it is asked for a sign of life. */
  readonly keepAliveMs: number;
  /** Gets the payload of each notification, and none after the loss. */
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
 * One connection that listens, from connecting to its loss. It is lost when it errs or ends, when the server is silent for
 * longer than `keepAliveMs` and then does not answer `select 1` within five seconds (a flow that was dropped on the way says
 * nothing for a quarter of an hour), or when it finds itself on a server that became read-only.
 *
 * Statements run one by one, because node-postgres is about to refuse to queue them, and so that the question for a sign of
 * life is one of them. A statement that runs for longer than the server may be silent is taken for a dead connection.
 *
 * @example
 * const session = await ListeningSession.open({ openConnection, quotedChannel, connectTimeoutMs, keepAliveMs, onNotification, signal });
 * const reason = await session.lost;
 * await session.close();
 */
export class ListeningSession {
  /** Resolves to the reason, once. */
  readonly lost: Promise<unknown>;
  readonly #connection: ListeningConnection;
  readonly #silence: SilenceWatch;
  readonly #statements: PendingStatement[] = [];
  #active: PendingStatement | undefined;
  #loss: { readonly error: unknown } | undefined;
  readonly #announceLoss: (error: unknown) => void;
  #closed: Promise<void> | undefined;

  /** Connects and listens; rejects when it cannot. */
  static async open(options: ListeningSessionOptions): Promise<ListeningSession> {
    const { signal, connectTimeoutMs } = options;
    signal.throwIfAborted();
    const session = new ListeningSession(options);
    const abort = () => session.#lose(new Error("The listener was closed."));
    signal.addEventListener("abort", abort, { once: true });
    const giveUp = setTimeout(() => session.#lose(new Error(`The server did not answer within ${connectTimeoutMs} ms.`)), connectTimeoutMs);
    try {
      await Promise.race([session.#start(options.quotedChannel), session.lost.then((error) => Promise.reject(error as Error))]);
      return session;
    } catch (error) {
      session.#lose(error);
      throw error;
    } finally {
      clearTimeout(giveUp);
      signal.removeEventListener("abort", abort);
    }
  }

  private constructor({ openConnection, keepAliveMs, onNotification }: ListeningSessionOptions) {
    let announceLoss: (error: unknown) => void = () => {};
    this.lost = new Promise((resolve) => (announceLoss = resolve));
    this.#announceLoss = announceLoss;
    this.#silence = new SilenceWatch({
      keepAliveMs,
      ask: () => this.#askForSignOfLife(),
      onSilence: (error) => this.#lose(error),
    });
    this.#connection = openConnection({
      onLoss: (error) => this.#lose(error),
      onNotification: (payload) => {
        this.#heard();
        if (this.#loss === undefined) onNotification(payload);
      },
    });
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
    // Drivers let a goodbye wait for the statement that runs, or cut it off themselves.
    const wasIdle = this.#loss === undefined && this.#active === undefined;
    this.#markLost(new Error("The listener was closed."));
    if (wasIdle) await this.#sayGoodbye();
    this.#connection.cutOff();
  }

  async #start(quotedChannel: string): Promise<void> {
    await this.#connection.connect();
    // It is idle by its nature; a limit that an administrator set would end it again and again.
    await this.execute({ sql: "select pg_catalog.set_config('idle_session_timeout', '0', false)", parameters: [] });
    await this.execute({ sql: `listen ${quotedChannel}`, parameters: [] });
    if (this.#loss === undefined) this.#silence.start();
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
      statement.resolve(await this.#connection.run(statement.query));
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
    if (this.#loss === undefined) this.#silence.heard();
  }

  #askForSignOfLife(): void {
    this.execute({ sql: "select 1", parameters: [] }).catch(() => {
      // An answer that is an error is an answer; and a loss is reported by `lost`.
    });
  }

  #lose(error: unknown): void {
    this.#markLost(error);
    this.#connection.cutOff();
  }

  #markLost(error: unknown): void {
    if (this.#loss !== undefined) return;
    this.#loss = { error };
    this.#silence.stop();
    for (const statement of [this.#active, ...this.#statements.splice(0)]) statement?.reject(connectionLost(error));
    this.#announceLoss(error);
  }

  async #sayGoodbye(): Promise<void> {
    let tooLate: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => (tooLate = setTimeout(resolve, goodbyeTimeoutMs)));
    try {
      await Promise.race([this.#connection.sayGoodbye(), patience]);
    } catch {
      // It could not be said; the socket goes all the same.
    } finally {
      clearTimeout(tooLate);
    }
  }
}
