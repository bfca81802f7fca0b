import { type Duration } from "@queue/core";
import { parseDuration } from "@queue/core/internal";

/** What a handler returns to be called again later, without having spent an attempt. Made by {@link snooze}. */
export interface Snooze {
  readonly "~snooze": Duration;
}

/**
 * Puts the job back for `delay` and gives its attempt back: for what is not ready yet, as opposed to what failed.
 *
 * @throws QueueError `INVALID_OPTION` when the delay is not a duration
 * @example if (!(await report.isReady())) return snooze("5m");
 */
export function snooze(delay: Duration): Snooze {
  parseDuration(delay, "snooze");
  return Object.freeze({ "~snooze": delay });
}

/** The delay in milliseconds when `result` is a snooze. */
export function snoozeMs(result: unknown): number | undefined {
  if (typeof result !== "object" || result === null || !("~snooze" in result)) return undefined;
  return parseDuration(result["~snooze"] as Duration, "snooze");
}
