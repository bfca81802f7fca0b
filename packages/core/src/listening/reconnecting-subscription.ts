import { setTimeout as delay } from "node:timers/promises";
import type { ExecutableQuery, Executor } from "../ports/executor.js";
import type { ListenerEvents, Subscription } from "../ports/listener.js";
import { connectionLost } from "./connection-lost.js";
import { ListeningSession, type ListeningSessionOptions } from "./listening-session.js";
import { reconnectDelayMs } from "./reconnect-delay.js";

/** A session that lived this long was a good one: what comes after its loss is a first failure again. */
const stableAfterMs = 10_000;

/** What stays the same from session to session. */
export interface ReconnectingSubscriptionOptions extends Omit<ListeningSessionOptions, "onNotification" | "signal"> {
  /** The name of the driver, for the executor. */
  readonly adapter: string;
}

/**
 * One channel that is listened to, over as many sessions as it takes. The loop is all there is of state: open a session, wait
 * until it is lost, wait a little, again; `close` aborts it wherever it stands. `executor` runs statements on the session that
 * is up; without one it rejects with `DATABASE_ERROR`, worth a retry.
 *
 * @example
 * const subscription = new ReconnectingSubscription(
 *   { adapter: "my-driver", openConnection, quotedChannel: quoteChannel(channel), keepAliveMs: 10_000, connectTimeoutMs: 10_000 },
 *   events,
 * );
 * await subscription.start();
 */
export class ReconnectingSubscription implements Subscription {
  readonly executor: Executor;
  readonly #options: ReconnectingSubscriptionOptions;
  readonly #events: ListenerEvents;
  readonly #closing = new AbortController();
  #session: ListeningSession | undefined;
  #loop: Promise<void> | undefined;
  /** Why there is no session, for the statements that come meanwhile. */
  #reason: unknown = new Error("It is not connected yet.");

  constructor(options: ReconnectingSubscriptionOptions, events: ListenerEvents) {
    this.#options = options;
    this.#events = events;
    this.executor = { adapter: options.adapter, scope: this, execute: (query) => this.#execute(query) };
  }

  get isUp(): boolean {
    return this.#session !== undefined;
  }

  /** Begins to listen; resolves when the first attempt has succeeded or failed. */
  start(): Promise<void> {
    return new Promise((firstAttemptEnded) => {
      this.#loop = this.#listenAgainAndAgain(firstAttemptEnded);
    });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#loop;
  }

  async #listenAgainAndAgain(firstAttemptEnded: () => void): Promise<void> {
    const { signal } = this.#closing;
    let failures = 0;
    let isReported = false;
    while (!signal.aborted) {
      const startedAtMs = performance.now();
      try {
        await this.#listenOnce(() => {
          isReported = false;
          firstAttemptEnded();
        });
      } catch (error) {
        this.#reason = error;
        if (signal.aborted) break;
        // Once per loss: that the server is still away after ten seconds, and after twenty, is no news.
        if (!isReported) this.#events.onError(error);
        isReported = true;
        firstAttemptEnded();
      }
      if (performance.now() - startedAtMs > stableAfterMs) failures = 0;
      await delay(reconnectDelayMs(failures++), undefined, { signal }).catch(() => {
        // Aborted: the loop ends.
      });
    }
    firstAttemptEnded();
  }

  /** Opens a session and waits; rejects with the reason of its end. */
  async #listenOnce(onListening: () => void): Promise<never> {
    const { signal } = this.#closing;
    const onNotification = (payload: string) => this.#events.onNotification(payload);
    const session = await ListeningSession.open({ ...this.#options, signal, onNotification });
    const close = () => void session.close();
    signal.addEventListener("abort", close, { once: true });
    try {
      if (signal.aborted) throw new Error("The listener was closed.");
      this.#session = session;
      onListening();
      this.#events.onListening();
      throw await session.lost;
    } finally {
      this.#session = undefined;
      signal.removeEventListener("abort", close);
      await session.close();
    }
  }

  #execute<R>(query: ExecutableQuery): Promise<{ rows: R[] }> {
    return this.#session?.execute<R>(query) ?? Promise.reject(connectionLost(this.#reason));
  }
}
