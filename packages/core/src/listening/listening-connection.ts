import type { ExecutableQuery } from "../ports/executor.js";

/** What a connection says by itself. Both may be called at any time, and neither throws. */
export interface ListeningConnectionEvents {
  /** The payload of a notification. */
  onNotification(payload: string): void;
  /** The connection has failed or was closed: `error` is the reason. Only the first counts. */
  onLoss(error: unknown): void;
}

/**
 * The port for the driver of a listener: one connection, which is never made again. The session decides what is done when, and
 * how long it may take; here is only how.
 */
export interface ListeningConnection {
  /** Connects; rejects when it cannot. A driver that connects with the first statement does nothing. */
  connect(): Promise<unknown>;
  /** Runs one statement, and never a second one before the first has ended. Rejects with the driver's own error. */
  run<R>(query: ExecutableQuery): Promise<{ rows: R[] }>;
  /** Ends the session in the way of the protocol. Called at most once, and only on an idle connection; may reject or take for ever. */
  sayGoodbye(): Promise<unknown>;
  /** Closes the socket at once, and gives up connecting. Called more than once, and before `connect`, too; never throws. */
  cutOff(): void;
}

/**
 * Makes a connection, which connects to nothing before `connect()` or its first statement.
 *
 * @example (events) => openPgConnection(new Client(config), events)
 */
export type OpenListeningConnection = (events: ListeningConnectionEvents) => ListeningConnection;
