import type { Client, ClientConfig } from "@neondatabase/serverless";
import { type ExecutableQuery, queueError, sqlStateOf } from "@queue/core/adapter";

/** How long the server may take to answer `select 1`. */
const answerTimeoutMs = 5_000;
/** How long a goodbye may take before the socket is destroyed: a half-open connection never answers it. */
const goodbyeTimeoutMs = 1_000;
/** read_only_sql_transaction: the server was demoted, and a new connection may find the new primary. */
const readOnlyServer = "25006";

export interface NeonSessionOptions {
  /** The class, because the package is loaded only when somebody listens. */
  readonly Client: new (config: ClientConfig) => Client;
  readonly config: ClientConfig;
  /** A quoted identifier. */
  readonly quotedChannel: string;
  /** For connecting and listening together. */
  readonly connectTimeoutMs: number;
  /** How long the server may be silent before it is asked for a sign of life. */
  readonly keepAliveMs: number;
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
 * longer than `keepAliveMs` and then does not answer `select 1` in time (a flow that was dropped on the way says nothing for
 * a quarter of an hour), or when it finds itself on a server that became read-only.
 *
 * Statements run one by one, because node-postgres, which the driver is made of, is about to refuse to queue them, and so that the question for a sign of
 * life is one of them. A statement that runs for longer than the server may be silent is taken for a dead connection.
 */
export class NeonSession {
  /** Resolves to the reason, once. */
  readonly lost: Promise<unknown>;
  readonly #client: Client;
  readonly #statements: PendingStatement[] = [];
  #active: PendingStatement | undefined;
  #loss: { readonly error: unknown } | undefined;
  readonly #announceLoss: (error: unknown) => void;
  #keepAlive: NodeJS.Timeout | undefined;
  #answer: NodeJS.Timeout | undefined;
  #closed: Promise<void> | undefined;

  /** Connects and listens; rejects when it cannot. */
  static async open(options: NeonSessionOptions): Promise<NeonSession> {
    const { signal, connectTimeoutMs } = options;
    signal.throwIfAborted();
    const session = new NeonSession(options);
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

  private constructor({ Client, config, onNotification }: NeonSessionOptions) {
    let announceLoss: (error: unknown) => void = () => {};
    this.lost = new Promise((resolve) => (announceLoss = resolve));
    this.#announceLoss = announceLoss;
    this.#client = new Client(config);
    // Never taken off: without a listener an error that comes late would end the process.
    this.#client.on("error", (event: unknown) => this.#lose(errorOf(event)));
    this.#client.on("end", () => this.#lose(new Error("The server closed the connection.")));
    this.#client.on("notification", ({ payload }: { readonly payload?: string | undefined }) => {
      this.#heard();
      if (this.#loss === undefined) onNotification(payload ?? "");
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
    const wasLost = this.#loss !== undefined;
    this.#markLost(new Error("The listener was closed."));
    if (!wasLost) await this.#sayGoodbye();
    cutOff(this.#client);
  }

  async #start({ quotedChannel, keepAliveMs }: NeonSessionOptions): Promise<void> {
    await this.#client.connect().catch((event: unknown) => Promise.reject(errorOf(event) as Error));
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
      const { rows } = await this.#client.query<Record<string, unknown>>({
        text: statement.query.sql,
        values: [...statement.query.parameters],
      });
      statement.resolve({ rows });
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
    cutOff(this.#client);
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

  async #sayGoodbye(): Promise<void> {
    let tooLate: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => (tooLate = setTimeout(resolve, goodbyeTimeoutMs)));
    try {
      await Promise.race([this.#client.end(), patience]);
    } catch {
      // It could not be said; the socket goes all the same.
    } finally {
      clearTimeout(tooLate);
    }
  }
}

/** Not only `destroy()`: that asks the other side to close the WebSocket, and waits half a minute for an answer. */
function cutOff(client: Client): void {
  const stream = client.connection.stream as unknown as { destroy(): void; ws?: { terminate?: () => void } | undefined };
  stream.destroy();
  stream.ws?.terminate?.();
}

/** What a WebSocket reports is an event, which has the error or at least its message. */
function errorOf(event: unknown): unknown {
  if (event instanceof Error || typeof event !== "object" || event === null) return event;
  if ("error" in event && event.error instanceof Error) return event.error;
  return new Error("message" in event && typeof event.message === "string" ? event.message : "The WebSocket failed.", { cause: event });
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
