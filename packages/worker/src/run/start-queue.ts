import type { Clock } from "../time/clock.js";
import type { RunningAttempt } from "./running-attempt.js";

export interface StartQueueOptions {
  /** So many handlers run at the same time. */
  readonly concurrency: number;
  readonly clock: Clock;
  /** Runs the handler. `ended` is to be called when its slot is free. */
  readonly start: (attempt: RunningAttempt) => void;
  /** They have waited too long: others may begin them sooner. */
  readonly onWaitedTooLong: (attempts: readonly RunningAttempt[]) => void;
}

interface Waiting {
  readonly attempt: RunningAttempt;
  readonly round: number;
}

const roundMs = 50;
/** Whole rounds that an attempt may wait: between 100 and 150 ms, while the event loop runs. */
const mostRounds = 2;

/**
 * Claimed jobs that wait for a slot, by priority, and among equals in the order in which they came: two claims may be answered in
 * either order. None waits long: handlers that were quick may be followed by slow ones, and then what waits is handed back. Time is counted in rounds of a timer, so that a process that stood still looks
 * what it can begin first.
 */
export class StartQueue {
  readonly #options: StartQueueOptions;
  #waiting: Waiting[] = [];
  #running = 0;
  #round = 0;
  #cancelRound: (() => void) | undefined;

  constructor(options: StartQueueOptions) {
    this.#options = options;
  }

  add(attempt: RunningAttempt): void {
    if (this.#running < this.#options.concurrency) return this.#start(attempt);
    const place = this.#waiting.findLastIndex((earlier) => earlier.attempt.row.priority <= attempt.row.priority) + 1;
    this.#waiting.splice(place, 0, { attempt, round: this.#round });
    this.#cancelRound ??= this.#options.clock.after(roundMs, () => this.#endRound());
  }

  /** A slot is free. */
  ended(): void {
    this.#running -= 1;
    const next = this.#waiting.shift();
    if (next !== undefined) this.#start(next.attempt);
  }

  /** Takes out all that wait. */
  takeAll(): RunningAttempt[] {
    this.#cancelRound?.();
    this.#cancelRound = undefined;
    return this.#waiting.splice(0).map(({ attempt }) => attempt);
  }

  #start(attempt: RunningAttempt): void {
    this.#running += 1;
    this.#options.start(attempt);
  }

  #endRound(): void {
    this.#cancelRound = undefined;
    this.#round += 1;
    const isTooOld = ({ round }: Waiting) => this.#round - round > mostRounds;
    const tooOld = this.#waiting.filter(isTooOld).map(({ attempt }) => attempt);
    this.#waiting = this.#waiting.filter((one) => !isTooOld(one));
    if (this.#waiting.length > 0) this.#cancelRound = this.#options.clock.after(roundMs, () => this.#endRound());
    if (tooOld.length > 0) this.#options.onWaitedTooLong(tooOld);
  }
}
