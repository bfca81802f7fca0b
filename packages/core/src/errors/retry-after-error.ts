import { type Duration, maxDurationMs, parseDuration } from "../job/duration.js";

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

/** Whether `value` is a {@link RetryAfterError} of this or of any other copy. */
function isRetryAfterError(value: unknown): value is RetryAfterError {
  return retryAfterMs(value) !== undefined;
}

/** The delay of a {@link RetryAfterError} of this or of any other copy, if it is one that can be used. */
export function retryAfterMs(value: unknown): number | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  try {
    // The mark's value, too: a proxy may have every property. And the delay once: it may be another the next time.
    const { delayMs, [mark]: marked } = value as { readonly delayMs?: unknown; readonly [mark]?: unknown };
    const isUsable = marked === true && typeof delayMs === "number" && Number.isSafeInteger(delayMs);
    return isUsable && delayMs >= 0 && delayMs <= maxDurationMs ? delayMs : undefined;
  } catch {
    return undefined; // a proxy or a getter that throws is somebody else's object
  }
}
