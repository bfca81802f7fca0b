import type { QueueError } from "@queue/core";
import { type EndedRow, type ExpiredJob, leaseExpiredMessage, queueError, toDate, type WorkerStatements } from "@queue/core/internal";
import { type Database, databaseError } from "../database/database.js";
import { leaseLost } from "../lease/lease-keeper.js";
import type { Logger } from "../logger.js";
import { describeThrown } from "../run/describe-thrown.js";
import type { Outcome } from "../run/decide-outcome.js";
import type { RunningAttempt } from "../run/running-attempt.js";
import type { Clock } from "../time/clock.js";
import { callSafely } from "./call-safely.js";
import type { WorkerEvent } from "../worker-event.js";

export interface ReporterOptions {
  readonly worker: string;
  readonly database: Database;
  readonly statements: Pick<WorkerStatements, "findEnded">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onEvent: (event: WorkerEvent) => void;
}

const deadLine = "A job is dead: it will not run again by itself.";

/** Tells what happened: events for programs, log lines for people. Nothing depends on it. */
export class Reporter {
  readonly #options: ReporterOptions;
  readonly #explaining = new Set<Promise<void>>();

  constructor(options: ReporterOptions) {
    this.#options = options;
  }

  emit(event: WorkerEvent): void {
    const { onEvent, logger } = this.#options;
    callSafely(
      () => onEvent(event),
      (error) => logger.error({ error: describeThrown(error).message, event: event.type }, "onEvent threw."),
    );
  }

  /** Something that the worker survives. */
  error(error: unknown, what = "The worker goes on, but the database did not answer as expected"): void {
    const { worker, logger } = this.#options;
    const wrapped = databaseError(what, error);
    logger.warn({ worker, error: wrapped.message }, "Something failed that the worker tries again.");
    this.emit({ type: "worker.error", error: wrapped });
  }

  /** Something that it does not survive. */
  unusable(error: QueueError): void {
    const { worker, logger } = this.#options;
    logger.error({ worker, error: error.message }, "The worker stops: it cannot work with these tables.");
    this.emit({ type: "worker.error", error });
  }

  started(attempt: RunningAttempt): void {
    const waitedMs = this.#options.clock.date().getTime() - toDate(attempt.row.run_at).getTime();
    this.emit({ type: "job.started", waitedMs: Math.max(0, waitedMs), ...about(attempt) });
  }

  /** An outcome that is in the table. */
  recorded(attempt: RunningAttempt, outcome: Outcome): void {
    const { logger, clock } = this.#options;
    const job = about(attempt);
    const durationMs = clock.now() - attempt.startedAtMs;
    switch (outcome.type) {
      case "done":
        return this.emit({ type: "job.completed", durationMs, ...job });
      case "retry":
        logger.warn(
          { ...job, delayMs: Math.round(outcome.delayMs), error: outcome.error.message },
          "An attempt failed and will be retried.",
        );
        return this.emit({ type: "job.failed", error: outcome.thrown, retryAt: this.#after(outcome.delayMs), durationMs, ...job });
      case "dead":
        logger.error({ ...job, error: outcome.error.message }, deadLine);
        return this.emit({ type: "job.dead", error: outcome.thrown, ...job });
      case "snoozed":
        return this.emit({ type: "job.snoozed", runAt: this.#after(outcome.delayMs), ...job });
      case "released":
        return this.emit({ type: "job.released", ...job });
    }
  }

  /** A sweep found its lease over, whoever held it. */
  expired({ id, kind, lane, status, attempts }: ExpiredJob): void {
    const { logger } = this.#options;
    const job = { id, kind, lane, attempt: attempts };
    const error = queueError("LEASE_LOST", leaseExpiredMessage, { jobId: id });
    if (status === "dead") {
      logger.error({ ...job, error: error.message }, deadLine);
      this.emit({ type: "job.dead", error, ...job });
    } else {
      logger.warn(job, "A lease ran out: the job is returned to the queue.");
      this.emit({ type: "job.lease-lost", error, ...job });
    }
  }

  /** An outcome that the fence refused: finds out why, and tells that. */
  refused(attempt: RunningAttempt, outcome: Outcome): void {
    const explaining = this.#explain(attempt, outcome).finally(() => this.#explaining.delete(explaining));
    this.#explaining.add(explaining);
  }

  /** Resolves when everything that was refused is explained. */
  async drain(): Promise<void> {
    await Promise.all(this.#explaining);
  }

  async #explain(attempt: RunningAttempt, outcome: Outcome): Promise<void> {
    const { worker, logger } = this.#options;
    const job = about(attempt);
    if (attempt.abortedBy?.code === "JOB_CANCELLED") return this.emit({ type: "job.cancelled", ...job });
    const ended = await this.#findEnded(attempt.id);
    if (ended?.status === "cancelled") return this.emit({ type: "job.cancelled", ...job });
    if (ended?.status === "done" && ended.worker === worker && Number(ended.claims) === attempt.fence) {
      // Ours all the same, by a try whose answer was lost; or the handler's own transaction recorded and told it, while the
      // worker was giving it back.
      if (outcome.type === "done") this.recorded(attempt, outcome);
      return;
    }
    logger.warn(job, "A lease was lost: the outcome of this attempt is not recorded.");
    this.emit({ type: "job.lease-lost", error: leaseLost(attempt.id, "its outcome was fenced off"), ...job });
  }

  async #findEnded(id: string): Promise<EndedRow | undefined> {
    const { database, statements } = this.#options;
    try {
      return (await database.run(statements.findEnded, { ids: `{${id}}` }))[0];
    } catch (error) {
      this.error(error);
      return undefined;
    }
  }

  #after(ms: number): Date {
    return new Date(this.#options.clock.date().getTime() + ms);
  }
}

function about({ id, row, attempt }: RunningAttempt) {
  return { id, kind: row.kind, lane: row.lane, attempt };
}
