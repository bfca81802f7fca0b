import type { HasJobs, InferJob, Job, JobDefinitions } from "@queue/core";
import type { KindIn, PayloadIn } from "@queue/core/internal";
import type { DatabaseTarget, TransactionOf } from "@queue/core/adapter";
import type { Logger } from "./logger.js";
import type { OnceOptions, OnceResult } from "./run/once.js";
import type { Snooze } from "./run/snooze.js";

/** What a handler gets beside its job. */
export interface HandlerContext {
  /** Aborts when the attempt should end: timeout, stop, cancelled, lease lost. `signal.reason` is a `QueueError` that says which. */
  readonly signal: AbortSignal;
  /** The worker's logger, with the job's id, kind and attempt. */
  readonly log: Logger;
  /** The same for every attempt of a job, and unlike any other job's: give it to services that take one. */
  readonly idempotencyKey: string;
  /**
   * Runs `fn` at most once for `key`, over all attempts: the delivery record is written and committed before, under a unique
   * key. When `fn` throws, the record goes and the error is the attempt's. When the process died in between, nobody knows:
   * `onUnknown` decides. Plain handlers; inside a transactional one it needs a second connection.
   *
   * @throws QueueError `EFFECT_IN_PROGRESS` when another attempt is in the middle of it
   */
  once<T>(key: string, fn: (signal: AbortSignal) => T | Promise<T>, options?: OnceOptions): Promise<OnceResult<T>>;
}

export interface TransactionalContext<TTrx> extends HandlerContext {
  /** Its writes and the completion commit together, or not at all. */
  readonly trx: TTrx;
}

/** `void | Snooze`, not unknown: `return new PermanentError()` instead of `throw` would otherwise count as a success. */
export type HandlerResult = void | Snooze;

export type Run<TJob, TContext> = (job: TJob, ctx: TContext) => HandlerResult | Promise<HandlerResult>;

export interface TransactionalRun<TJob, TTrx> {
  readonly transactional: true;
  readonly run: Run<TJob, TransactionalContext<TTrx>>;
}

export type HandlerIn<TJob, TTrx> = Run<TJob, HandlerContext> | TransactionalRun<TJob, TTrx>;

export type HandlersIn<TJobs extends JobDefinitions, TTrx> = {
  readonly [TKind in KindIn<TJobs>]?: HandlerIn<Job<TKind, PayloadIn<TJobs, TKind>>, TTrx> | undefined;
};

/** A handler in a file of its own: `const sendReceipt: Handler<typeof queue, "order.send-receipt"> = async (job, ctx) => …`. */
export type Handler<TQueue extends HasJobs, TKind extends keyof TQueue["jobs"] & string> = Run<InferJob<TQueue, TKind>, HandlerContext>;

/** The same for a transactional one; `trx` is the transaction of the library whose database the worker has. */
export type TransactionalHandler<
  TQueue extends HasJobs,
  TKind extends keyof TQueue["jobs"] & string,
  TDb extends DatabaseTarget,
> = TransactionalRun<InferJob<TQueue, TKind>, TransactionOf<TDb>>;

/** Handlers of a part of the kinds, for `satisfies`. */
export type Handlers<TQueue extends HasJobs, TDb extends DatabaseTarget> = HandlersIn<TQueue["jobs"], TransactionOf<TDb>>;
