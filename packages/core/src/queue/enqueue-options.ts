import { queueError } from "../errors/queue-error.js";
import { showValue } from "../errors/show-value.js";
import { type Duration, parseDuration } from "../job/duration.js";
import type { ResolvedJobOptions } from "../job/job-definition.js";
import { checkLane, checkMaxAttempts, checkName, checkPriority, type Priority, refuseUnknownOptions } from "../job/job-options.js";

export interface EnqueueOptions {
  /** Idempotency key, per kind: while it is held, a second enqueue inserts nothing and returns the first job's id. */
  readonly key?: string | undefined;
  /**
   * How long `key` refuses a second job: for a time from now, `"until-started"` (until a worker claims the job: a debounce), or
   * `"until-ended"` (until it is done, cancelled or dead). Needs `key`. @default "30d"
   */
  readonly keyHolds?: Duration | "until-started" | "until-ended" | undefined;
  /** Due this long after now, by the database's clock. Not together with `runAt`. @default 0 */
  readonly delay?: Duration | undefined;
  /** Due at this moment; one in the past is now. Not together with `delay`. */
  readonly runAt?: Date | undefined;
  /** 0 is first, 9 is last. @default the kind's */
  readonly priority?: Priority | undefined;
  /** @default the kind's */
  readonly maxAttempts?: number | undefined;
  /** @default the kind's */
  readonly lane?: string | undefined;
}

/** The options as the statement takes them. */
export interface ResolvedEnqueueOptions {
  readonly lane: string;
  readonly priority: number;
  readonly max_attempts: number;
  readonly delay_ms: number;
  readonly run_at: string | null;
  readonly key: string | null;
  /** Null when the hold ends by an event, or when there is no key. */
  readonly hold_ms: number | null;
  readonly release_on: "started" | "ended" | null;
}

const names = ["key", "keyHolds", "delay", "runAt", "priority", "maxAttempts", "lane"];
const defaultHoldMs = 30 * 86_400_000;
const lastYear = 9999;

/** @throws QueueError `INVALID_OPTION` naming the option */
export function resolveEnqueueOptions(options: EnqueueOptions, kind: ResolvedJobOptions): ResolvedEnqueueOptions {
  refuseUnknownOptions(options, names, "enqueue");
  const { key, keyHolds, delay, runAt, priority, maxAttempts, lane } = options;
  if (delay !== undefined && runAt !== undefined) {
    throw queueError("INVALID_OPTION", "delay and runAt contradict each other: give one of them.", { option: "delay" });
  }
  if (keyHolds !== undefined && key === undefined) {
    throw queueError("INVALID_OPTION", "keyHolds says how long a key is held, but there is no key.", { option: "keyHolds" });
  }
  const releaseOn = keyHolds === "until-started" ? "started" : keyHolds === "until-ended" ? "ended" : null;
  return {
    lane: lane === undefined ? kind.lane : checkLane(lane),
    priority: priority === undefined ? kind.priority : checkPriority(priority),
    max_attempts: maxAttempts === undefined ? kind.maxAttempts : checkMaxAttempts(maxAttempts),
    delay_ms: delay === undefined ? 0 : parseDuration(delay, "delay"),
    run_at: runAt === undefined ? null : checkInstant(runAt, "runAt"),
    key: key === undefined ? null : checkName(key, "key", 1_000),
    hold_ms: key === undefined || releaseOn !== null ? null : holdMs(keyHolds),
    release_on: releaseOn,
  };
}

function holdMs(keyHolds: EnqueueOptions["keyHolds"]): number {
  if (keyHolds === undefined) return defaultHoldMs;
  return parseDuration(keyHolds as Duration, "keyHolds", { minMs: 1 });
}

/** PostgreSQL has no year 0. @throws QueueError `INVALID_OPTION` naming `option` */
export function checkInstant(instant: unknown, option: string): string {
  if (!(instant instanceof Date) || !(instant.getUTCFullYear() >= 1 && instant.getUTCFullYear() <= lastYear)) {
    throw queueError("INVALID_OPTION", `${option} must be a valid Date of the years 1 to ${lastYear}, but is ${showValue(instant)}.`, {
      option,
    });
  }
  // A subclass may have another way to show itself.
  return Date.prototype.toISOString.call(instant);
}
