import type { Clock } from "../time/clock.js";

export interface PrefetchOptions {
  readonly isOn: boolean;
  readonly concurrency: number;
  readonly clock: Clock;
}

/** So much work may wait here: a job of it begins sooner than a claim and its answer would take where the database is busy. */
const aheadMs = 20;
const mostAhead = 500;
/** A rate that is measured over less is chance. */
const shortestSampleMs = 5;
/** An older rate tells nothing. */
const longestSampleMs = 100;
/** After jobs had to be given back, because the handlers before them took longer than those that were measured. */
const restMs = 10_000;

/**
 * How many jobs more than there are slots may be claimed, so that many quick jobs share a statement: a statement costs the same for
 * one job as for fifty (in batches of 10 a job took the server 120 µs, of 300 it took 26). As many as will have begun within a
 * few milliseconds at the rate at which handlers end; none where handlers take longer than that, for then another worker
 * may begin them sooner.
 */
export class Prefetch {
  readonly #options: PrefetchOptions;
  #ended = 0;
  #sinceMs: number;
  #endedPerMs = 0;
  #restsUntilMs = Number.NEGATIVE_INFINITY;

  constructor(options: PrefetchOptions) {
    this.#options = options;
    this.#sinceMs = options.clock.now();
  }

  /** A handler has ended. */
  noteEnded(): void {
    this.#ended += 1;
  }

  /** Jobs have waited too long for a slot. */
  rest(): void {
    this.#restsUntilMs = this.#options.clock.now() + restMs;
  }

  /** So many jobs may wait for a slot now. */
  get size(): number {
    const { isOn, concurrency, clock } = this.#options;
    const nowMs = clock.now();
    if (!isOn || nowMs < this.#restsUntilMs) return 0;
    this.#measure(nowMs);
    const ahead = Math.floor(this.#endedPerMs * aheadMs);
    return ahead < concurrency ? 0 : Math.min(ahead, mostAhead);
  }

  #measure(nowMs: number): void {
    const elapsedMs = nowMs - this.#sinceMs;
    if (elapsedMs < shortestSampleMs) return;
    const sample = this.#ended / elapsedMs;
    this.#endedPerMs = elapsedMs > longestSampleMs ? sample : (this.#endedPerMs + sample) / 2;
    this.#ended = 0;
    this.#sinceMs = nowMs;
  }
}
