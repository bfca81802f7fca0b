/** Resolved back-off, in milliseconds. */
export interface BackoffMs {
  readonly baseMs: number;
  readonly capMs: number;
}

export const defaultBackoff: BackoffMs = Object.freeze({ baseMs: 2_000, capMs: 300_000 });

/**
 * The longest delay after the `attempt`-th attempt failed: `min(cap, base · 2^(attempt − 1))`, in milliseconds. The power is
 * bounded before it is taken, so that attempt 1100 is as harmless as attempt 1.
 */
export function backoffCeilingMs(attempt: number, { baseMs, capMs }: BackoffMs = defaultBackoff): number {
  return Math.min(capMs, baseMs * 2 ** Math.min(Math.max(attempt, 1) - 1, 64));
}

/**
 * The delay before the next attempt, "full jitter": uniform from 0 to the ceiling. The exponential part gives a service that
 * is down time to recover; drawing from the whole range below it keeps jobs that failed together from returning together.
 * Source: Exponential Backoff And Jitter, Marc Brooker, AWS Architecture Blog, 2015.
 *
 * @param attempt the attempt that failed, from 1
 * @param random from 0 (included) to 1 (excluded)
 */
export function backoffDelayMs(attempt: number, backoff: BackoffMs = defaultBackoff, random: () => number = Math.random): number {
  return random() * backoffCeilingMs(attempt, backoff);
}
