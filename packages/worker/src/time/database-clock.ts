import type { Clock } from "./clock.js";

/**
 * A clock whose time of day is the database's, as far as it has said so: jobs are due by it, and what is told of them should be
 * what is stored, whatever the clock of this machine says.
 */
export class DatabaseClock implements Clock {
  readonly #clock: Clock;
  /** Between the process's clock and the database's time of day. */
  #offsetMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The database said `micros` (since 1970) in the answer to a statement that was sent at `sentAtMs` of the process's clock. */
  observe(micros: number, sentAtMs: number): void {
    this.#offsetMs = micros / 1_000 - sentAtMs;
  }

  /** What the database's clock shows, as far as it has said so. */
  get databaseNowMs(): number | undefined {
    return this.#offsetMs === undefined ? undefined : this.#clock.now() + this.#offsetMs;
  }

  now(): number {
    return this.#clock.now();
  }

  after(ms: number, callback: () => void): () => void {
    return this.#clock.after(ms, callback);
  }

  date(): Date {
    return this.databaseNowMs === undefined ? this.#clock.date() : new Date(this.databaseNowMs);
  }
}
