import { type Duration, parseDuration } from "../job/duration.js";

const mark = Symbol.for("@queue/core/RetryAfterError");

/**
 * Throw it from a handler when the time of the next attempt is known, as a service says with `Retry-After`. It spends an
 * attempt, like any failure; when none is left, the job is dead.
 *
 * @throws QueueError `INVALID_OPTION` when the delay is not a duration
 * @example throw new RetryAfterError("1m", { message: "rate limit", cause: response });
 */
export class RetryAfterError extends Error {
  readonly delayMs: number;

  constructor(delay: Duration, options?: { readonly message?: string | undefined; readonly cause?: unknown }) {
    super(options?.message ?? `retry after ${delay}`, options !== undefined && "cause" in options ? { cause: options.cause } : undefined);
    this.name = "RetryAfterError";
    this.delayMs = parseDuration(delay, "delay");
    Object.defineProperty(this, mark, { value: true });
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return isRetryAfterError(value);
  }
}

/** Whether `value` is a {@link RetryAfterError} of this or of any other copy, with a delay that can be used. */
export function isRetryAfterError(value: unknown): value is RetryAfterError {
  if (typeof value !== "object" || value === null) return false;
  try {
    return mark in value && Number.isSafeInteger((value as { delayMs?: unknown }).delayMs);
  } catch {
    return false; // a proxy or a getter that throws is somebody else's object
  }
}
