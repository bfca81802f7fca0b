import { type BackoffMs, backoffDelayMs, isPermanentError, retryAfterMs } from "@queue/core/internal";
import { describeThrown, type StoredError } from "./describe-thrown.js";

/** How an attempt ends in the table. */
export type Outcome =
  | { readonly type: "done" }
  | { readonly type: "retry"; readonly delayMs: number; readonly thrown: unknown; readonly error: StoredError }
  /** `isExhausted`: it was the last attempt; otherwise trying again cannot help. */
  | { readonly type: "dead"; readonly thrown: unknown; readonly error: StoredError; readonly isExhausted?: boolean }
  | { readonly type: "snoozed"; readonly delayMs: number }
  /** Given back, to its place, because the worker stops, or because the handler could not be started. */
  | { readonly type: "released"; readonly isAttemptSpent: boolean };

/** What of a job decides about its next attempt. */
export interface AttemptLimits {
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly backoff: BackoffMs;
}

/**
 * What follows from a failure: dead when trying again cannot help or no attempt is left; else a retry, after the time that the
 * handler named, or after full jitter.
 */
export function decideOutcome(
  thrown: unknown,
  { attempt, maxAttempts, backoff }: AttemptLimits,
  random: () => number = Math.random,
): Outcome {
  const error = describeThrown(thrown);
  if (isPermanentError(thrown)) return { type: "dead", thrown, error };
  if (attempt >= maxAttempts) return { type: "dead", thrown, error, isExhausted: true };
  const delayMs = retryAfterMs(thrown) ?? backoffDelayMs(attempt, backoff, random);
  return { type: "retry", delayMs, thrown, error };
}
