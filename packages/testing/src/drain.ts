import type { Duration, Executor, JobDefinitions, Queue } from "@queue/core";
import type { DatabaseTarget } from "@queue/core/adapter";
import {
  checkInteger,
  createWorkerStatements,
  parseDuration,
  queueError,
  refuseUnknownOptions,
  runStatement,
  showValue,
  toArrayLiteral,
} from "@queue/core/internal";
import { createWorker, type Handlers, type Logger, type WorkerEvent } from "@queue/worker";
import { DrainError, type FailedAttempt } from "./drain-error.js";
import type { MovableClock } from "./test-clock.js";

export interface DrainOptions {
  /**
   * Lets so much time pass while it works: every job that becomes due on the way runs at its time, in the order of the times, and at
   * the end the clock has moved by exactly so much. So retries, snoozes and delays are worked, too. Left out, the clock stands still.
   *
   * A job that puts itself back at once, for ever, is worked for ever.
   */
  readonly until?: Duration | undefined;
  /**
   * `"throw"`: when a handler failed, rejects with a `DrainError`, after everything else was worked. `"allow"`: failures are a part of
   * the result, for tests of retries and dead letters. @default "throw"
   */
  readonly failures?: "throw" | "allow" | undefined;
  /** How many handlers may run at the same time; with 1, jobs run in the order of their lines. @default 10 */
  readonly concurrency?: number | undefined;
  /** What handlers get as `ctx.log`, and what the worker says. @default says nothing */
  readonly logger?: Logger | undefined;
  /** Called for everything that the worker tells. */
  readonly onEvent?: ((event: WorkerEvent) => void) | undefined;
}

/** What a drain did. Each number counts attempts, not jobs. */
export interface DrainResult {
  readonly completed: number;
  readonly snoozed: number;
  readonly failures: readonly FailedAttempt[];
}

export interface DrainSetting<TJobs extends JobDefinitions, TSchema extends string, TDb extends DatabaseTarget> {
  readonly db: TDb;
  readonly executor: Executor;
  readonly queue: Queue<TJobs, TSchema>;
  readonly clock: MovableClock;
}

/** A thousand years, as for `clock.advance`. */
const furthestMs = 1_000 * 365 * 86_400_000;
const silent: Logger = Object.freeze({ debug: () => {}, info: () => {}, warn: () => {}, error: () => {} });

export function createDrain<TJobs extends JobDefinitions, TSchema extends string, TDb extends DatabaseTarget>(
  setting: DrainSetting<TJobs, TSchema, TDb>,
) {
  const { lookAhead } = createWorkerStatements(setting.queue.schema);

  return async (handlers: Handlers<{ readonly jobs: TJobs }, TDb>, options: DrainOptions = {}): Promise<DrainResult> => {
    const { untilMs, failures: onFailure, concurrency, logger, onEvent } = resolve(options);
    const record = createRecord(onEvent);
    const workDue = () => {
      const worker = createWorker<JobDefinitions, DatabaseTarget>({
        queue: setting.queue,
        db: setting.db,
        handlers: handlers as object,
        concurrency,
        logger,
        onEvent: record.onEvent,
      });
      return worker.runUntilIdle();
    };
    // In the order of their times: a retry in ten minutes comes before a job that is due in an hour.
    const nextDueInMs = async () => {
      const lines = await runStatement(setting.executor, lookAhead, { known: "[]", kinds: toArrayLiteral(Object.keys(handlers)) });
      const dues = lines.flatMap(({ due_in_ms }) => (due_in_ms === null ? [] : [Math.ceil(Math.max(0, Number(due_in_ms)))]));
      return Math.min(...dues, Number.POSITIVE_INFINITY);
    };

    await setting.clock.whileStill(async (advanceBy) => {
      await workDue();
      for (let leftMs = untilMs; leftMs > 0;) {
        const stepMs = Math.min(leftMs, Math.max(1, await nextDueInMs()));
        await advanceBy(stepMs);
        leftMs -= stepMs;
        await workDue();
      }
    });
    const [workerError] = record.workerErrors;
    if (workerError !== undefined) throw workerError;
    const [first, ...others] = record.failures;
    if (first !== undefined && onFailure === "throw") throw new DrainError([first, ...others]);
    return { completed: record.completed(), snoozed: record.snoozed(), failures: record.failures };
  };
}

function resolve(options: DrainOptions) {
  refuseUnknownOptions(options, ["until", "failures", "concurrency", "logger", "onEvent"], "drain");
  const { until = 0, failures = "throw", concurrency = 10, logger = silent, onEvent = () => {} } = options;
  if (failures !== "throw" && failures !== "allow") {
    throw queueError("INVALID_OPTION", `failures must be "throw" or "allow", but is ${showValue(failures)}.`, { option: "failures" });
  }
  return {
    untilMs: parseDuration(until, "until", { maxMs: furthestMs }),
    failures,
    concurrency: checkInteger(concurrency, "concurrency", 1, 10_000),
    logger,
    onEvent,
  };
}

function createRecord(forward: (event: WorkerEvent) => void) {
  let completed = 0;
  let snoozed = 0;
  const failures: FailedAttempt[] = [];
  const workerErrors: Error[] = [];
  return {
    failures,
    workerErrors,
    completed: () => completed,
    snoozed: () => snoozed,
    onEvent(event: WorkerEvent): void {
      if (event.type === "job.completed") completed += 1;
      if (event.type === "job.snoozed") snoozed += 1;
      if (event.type === "worker.error") workerErrors.push(event.error);
      if (event.type === "job.failed" || event.type === "job.dead" || event.type === "job.lease-lost") {
        const { id, kind, attempt, error } = event;
        failures.push({ id, kind, attempt, error, isDead: event.type === "job.dead" });
      }
      forward(event);
    },
  };
}
