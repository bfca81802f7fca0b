import { queueError } from "../errors/queue-error.js";
import { showValue } from "../errors/show-value.js";

/** Milliseconds, or one number with a unit: `250`, `"250ms"`, `"30s"`, `"5m"`, `"1.5h"`, `"7d"`. */
export type Duration = number | `${number}${"ms" | "s" | "m" | "h" | "d"}`;

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const shape = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;

/** A hundred years: beyond it a duration is a mistake in the unit, and the database's dates come to an end. */
export const maxDurationMs = 36_525 * unitMs.d;

/**
 * `duration` in whole milliseconds, from 0 to a hundred years.
 *
 * @throws QueueError `INVALID_OPTION` naming `option`
 */
export function parseDuration(
  duration: Duration,
  option: string,
  bounds: { readonly minMs?: number; readonly maxMs?: number } = {},
): number {
  const { minMs = 0, maxMs = maxDurationMs } = bounds;
  const ms = typeof duration === "string" ? parseText(duration) : duration;
  if (typeof ms !== "number" || !Number.isSafeInteger(ms)) {
    throw queueError(
      "INVALID_OPTION",
      `${option} must be whole milliseconds or a number with a unit ("250ms", "30s", "5m", "1h", "7d"), but is ${showValue(duration)}.`,
      { option },
    );
  }
  if (ms < minMs || ms > maxMs) {
    throw queueError("INVALID_OPTION", `${option} must be from ${minMs} ms to ${maxMs} ms, but is ${showValue(duration)}.`, { option });
  }
  return ms;
}

function parseText(text: string): number {
  const match = shape.exec(text);
  if (match === null) return Number.NaN;
  // Rounded to a thousandth first: 1.1 s is 1100.0000000000002 ms to a floating-point number.
  return Math.round(Number(match[1]) * unitMs[match[2] as keyof typeof unitMs] * 1_000) / 1_000;
}
