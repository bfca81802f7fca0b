import type { Clock } from "./clock.js";

/** Farther apart, one of the clocks was set. */
const stepMs = 1_000;

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

  /**
   * The database said `micros` (since 1970) in the answer to a statement that was sent at `sentAtMs` of the process's clock. It said
   * so later than that, by as long as the statement was on its way: the least difference is the best, and the others count a little,
   * so that the two clocks may drift apart.
   */
  observe(micros: number, sentAtMs: number): void {
    const seenMs = micros / 1_000 - sentAtMs;
    const knownMs = this.#offsetMs ?? seenMs;
    const isStep = Math.abs(seenMs - knownMs) > stepMs;
    this.#offsetMs = isStep || seenMs < knownMs ? seenMs : knownMs + (seenMs - knownMs) / 16;
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
