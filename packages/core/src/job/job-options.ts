import { queueError } from "../errors/queue-error.js";
import { showValue } from "../errors/show-value.js";

/** 0 is first, 9 is last. */
export type Priority = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;

/** What the `integer` columns hold. */
const maxInteger = 2_147_483_647;
// oxlint-disable-next-line no-control-regex -- the control character is the point
const refusedInText = /[\u0000\p{Surrogate}]/u;

export function checkPriority(priority: unknown): number {
  return checkInteger(priority, "priority", 0, 9);
}

export function checkMaxAttempts(maxAttempts: unknown): number {
  return checkInteger(maxAttempts, "maxAttempts", 1, maxInteger);
}

export function checkLane(lane: unknown, option = "lane"): string {
  return checkName(lane, option, 200);
}

/**
 * A name or key that PostgreSQL stores as text and indexes: 1 to `maxBytes` bytes of UTF-8, without NUL and half surrogates.
 *
 * @throws QueueError `INVALID_OPTION` naming `option`
 */
export function checkName(name: unknown, option: string, maxBytes: number): string {
  if (
    typeof name !== "string" ||
    name.length === 0 ||
    name.length > maxBytes ||
    refusedInText.test(name) ||
    Buffer.byteLength(name) > maxBytes
  ) {
    throw queueError(
      "INVALID_OPTION",
      `${option} must be a string of 1 to ${maxBytes} bytes, without NUL and half surrogates, but is ${showValue(name)}.`,
      { option },
    );
  }
  return name;
}

/** @throws QueueError `INVALID_OPTION` naming `option` */
export function checkInteger(value: unknown, option: string, min: number, max: number): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < min || value > max) {
    throw queueError("INVALID_OPTION", `${option} must be a whole number from ${min} to ${max}, but is ${showValue(value)}.`, { option });
  }
  return value;
}

/** A slip in an option's name would otherwise be an option that silently does nothing. */
export function refuseUnknownOptions(options: unknown, known: readonly string[], of: string): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw queueError("INVALID_OPTION", `The options of ${of} must be an object, but are ${showValue(options)}.`, { option: of });
  }
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw queueError("INVALID_OPTION", `${of} has no option ${JSON.stringify(unknown)}. It has: ${known.join(", ")}.`, { option: unknown });
  }
}
