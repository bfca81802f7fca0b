import type { Executor } from "./executor.js";

/** What a worker does with what a listener hears. None of them throws. */
export interface ListenerEvents {
  /** The payload of a notification on the channel. */
  onNotification(payload: string): void;
  /** The connection listens, for the first time or again: what came in between was missed. */
  onListening(): void;
  /** The connection was lost or could not be made; the listener goes on trying. */
  onError(error: unknown): void;
}

/** A channel that is being listened to. */
export interface Subscription {
  /** Statements on the listener's own connection while it is up; they never wait for the pool. */
  readonly executor?: Executor | undefined;
  /** False while the connection is down: statements on it would fail at once. */
  readonly isUp?: boolean | undefined;
  /** Stops listening and closes the connection. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * The port for LISTEN, which needs a connection of its own. An implementation connects again by itself, with back-off, and
 * says so by `onListening`.
 */
export interface Listener {
  readonly adapter: string;
  /** Begins to listen. Resolves when it listens, or when the first attempt has failed and the next is scheduled. */
  listen(channel: string, events: ListenerEvents): Promise<Subscription>;
}
