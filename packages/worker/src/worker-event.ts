import type { QueueError } from "@queue/core";

interface AboutJob {
  readonly id: string;
  readonly kind: string;
  readonly lane: string;
  /** From 1. */
  readonly attempt: number;
}

/**
 * What a worker tells about its jobs and itself; logs, metrics and traces subscribe here. Never a payload. Those of an attempt come
 * in order; the next attempt may start here before the end of the last one is told, when both are on their way together.
 */
export type WorkerEvent =
  | ({ readonly type: "job.started"; /** Milliseconds between due and started. */ readonly waitedMs: number } & AboutJob)
  | ({ readonly type: "job.completed"; readonly durationMs: number } & AboutJob)
  | ({
      readonly type: "job.failed";
      readonly error: unknown;
      /** By the clock of the worker when the outcome was recorded: later than the table says, by the time that its answer took. */
      readonly retryAt: Date;
      readonly durationMs: number;
    } & AboutJob)
  | ({ readonly type: "job.dead"; readonly error: unknown } & AboutJob)
  | ({ readonly type: "job.snoozed"; /** As `retryAt`. */ readonly runAt: Date } & AboutJob)
  /** It was cancelled while it ran; its outcome is not recorded. */
  | ({ readonly type: "job.cancelled" } & AboutJob)
  /** Another took it over, or the lease could not be kept; its outcome is not recorded. */
  | ({ readonly type: "job.lease-lost"; readonly error: QueueError } & AboutJob)
  /** Given back: unfinished, because the worker stops, or unstarted, because the database gave no transaction. */
  | ({ readonly type: "job.released" } & AboutJob)
  | { readonly type: "worker.started"; readonly worker: string }
  | { readonly type: "worker.stopped"; readonly worker: string }
  /** LISTEN is up, for the first time or again. */
  | { readonly type: "worker.listening"; readonly worker: string }
  /** Something failed that the worker survives and tries again; or, with a code that begins with `SCHEMA_`, that it stops for. */
  | { readonly type: "worker.error"; readonly error: QueueError };
