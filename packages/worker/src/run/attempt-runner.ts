import { QueueError } from "@queue/core";
import { checkPayload, queueError, toDate, type WorkerStatements } from "@queue/core/internal";
import { type Database, databaseError } from "../database/database.js";
import type { HandlerContext, HandlerIn, TransactionalContext } from "../handler.js";
import { leaseLost } from "../lease/lease-keeper.js";
import { bindLogger, type Logger } from "../logger.js";
import { toRequeue } from "../settle/to-requeue.js";
import type { Clock } from "../time/clock.js";
import { beginTransaction, TransactionNotBegun } from "./begin-transaction.js";
import { decideOutcome, type Outcome } from "./decide-outcome.js";
import type { OnceKeeper } from "./once.js";
import { abortAttempt, type RunningAttempt } from "./running-attempt.js";
import type { Semaphore } from "./semaphore.js";
import { snoozeMs } from "./snooze.js";

/** Any handler: the types of jobs and transactions are checked where it is registered. */
export type AnyHandler = HandlerIn<never, never>;
type PlainHandler = Extract<AnyHandler, (...args: never) => unknown>;
type TransactionalHandler = Exclude<AnyHandler, PlainHandler>;
type AnyContext = HandlerContext & { trx?: unknown };

export interface AttemptRunnerOptions {
  readonly database: Database;
  readonly schema: string;
  readonly worker: string;
  readonly handlers: ReadonlyMap<string, AnyHandler>;
  readonly statements: Pick<WorkerStatements, "completeOwnJobs" | "requeueOwnJobs">;
  readonly once: OnceKeeper;
  /** How many transactional handlers may hold a connection at the same time. */
  readonly transactions: Semaphore;
  /** The database gave no transaction in time. */
  readonly onNoTransaction: () => void;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Whether another worker may have the job by now. */
  readonly isLeaseOver: (attempt: RunningAttempt) => boolean;
  /** How long a handler that ignores its timeout keeps its job from being tried again. */
  readonly lateHandlerMs: number;
}

/** What running an attempt came to. */
export type AttemptResult =
  /** To be written by the settler. */
  | { readonly type: "unsettled"; readonly outcome: Outcome }
  /** Written already, in the handler's own transaction. */
  | { readonly type: "settled"; readonly outcome: Outcome }
  /** Nothing may be written: the job belongs to somebody else, or is gone. */
  | { readonly type: "lost" };

/** The lease was over before the handler was called. */
const leaseOver: unique symbol = Symbol("lease over");
const systemDone: Outcome = Object.freeze({ type: "done" });

/** Runs one attempt: payload, handler, timeout, transaction; and says how it ended. Never rejects. */
export class AttemptRunner {
  readonly #options: AttemptRunnerOptions;

  constructor(options: AttemptRunnerOptions) {
    this.#options = options;
  }

  async run(attempt: RunningAttempt): Promise<AttemptResult> {
    const handler = this.#options.handlers.get(attempt.row.kind);
    if (handler === undefined) return { type: "unsettled", outcome: { type: "released", isAttemptSpent: false } };
    try {
      return typeof handler === "function" ? await this.#runPlain(attempt, handler) : await this.#runTransactional(attempt, handler);
    } catch (thrown) {
      return this.#judge(attempt, thrown);
    }
  }

  #runPlain(attempt: RunningAttempt, handler: PlainHandler): Promise<AttemptResult> {
    return this.#withTimeout(attempt, async () => {
      const job = await this.#toJob(attempt);
      this.#begin(attempt);
      const result = await handler(job as never, this.#context(attempt));
      throwIfOver(attempt);
      return { type: "unsettled", outcome: outcomeOf(result) };
    });
  }

  /** The time that it waits for a connection is not the handler's; and it is not begun when it is over by then. */
  async #runTransactional(attempt: RunningAttempt, handler: TransactionalHandler): Promise<AttemptResult> {
    const { transactions } = this.#options;
    await transactions.acquire();
    if (attempt.abortedBy !== undefined) {
      transactions.release();
      throw attempt.abortedBy;
    }
    // A handler that is no longer waited for keeps its transaction until it ends, because its statements go on; and the
    // completion is fenced off then, so that nothing of it is committed.
    return this.#withTimeout(attempt, () => this.#transact(attempt, handler).finally(() => transactions.release()));
  }

  /** The fenced completion is the last statement of the handler's transaction: when it changes no row, everything is undone. */
  async #transact(attempt: RunningAttempt, handler: TransactionalHandler): Promise<AttemptResult> {
    const { database, worker, statements } = this.#options;
    const job = await this.#toJob(attempt);
    const outcome = await beginTransaction(database.executor, async (trx, executor) => {
      const { once } = this.#options;
      const context = Object.defineProperties(this.#context(attempt), {
        trx: { value: trx, enumerable: true },
        once: {
          value: (...[key, fn, options]: Parameters<HandlerContext["once"]>) =>
            once.onceInTransaction(attempt, controllerOf(attempt).signal, key, fn, options),
          enumerable: true,
        },
      });
      this.#begin(attempt);
      const result = await handler.run(job as never, context as unknown as TransactionalContext<never>);
      throwIfOver(attempt);
      const decided = outcomeOf(result);
      const rows =
        decided.type === "done"
          ? await database.runInside(executor, statements.completeOwnJobs, {
              ids: `{${attempt.id}}`,
              fences: `{${attempt.fence}}`,
              keeps: `{${attempt.kind.options.keepMs ?? -1}}`,
              worker,
            })
          : await database.runInside(executor, statements.requeueOwnJobs, {
              jobs: JSON.stringify({ [attempt.id]: toRequeue(attempt, decided) }),
              worker,
            });
      if (rows.length === 0) throw leaseLost(attempt.id, "its completion was fenced off");
      return decided;
    });
    return { type: "settled", outcome };
  }

  /** Nothing starts that was aborted, or whose lease is over: after a pause of the process another worker may be at it. */
  #begin(attempt: RunningAttempt): void {
    if (attempt.abortedBy !== undefined) throw attempt.abortedBy;
    if (this.#options.isLeaseOver(attempt)) throw leaseOver;
    attempt.isBegun = true;
  }

  #judge(attempt: RunningAttempt, thrown: unknown): AttemptResult {
    const reason = attempt.abortedBy;
    if (!attempt.isBegun && !attempt.isLost && (thrown === leaseOver || thrown === reason)) {
      if (reason?.code === "ATTEMPT_TIMEOUT") this.#options.onNoTransaction();
      return { type: "unsettled", outcome: { type: "released", isAttemptSpent: false } };
    }
    if (attempt.isLost || isLeaseLost(thrown)) return { type: "lost" };
    if (reason?.code === "WORKER_STOPPING") return { type: "unsettled", outcome: { type: "released", isAttemptSpent: attempt.isBegun } };
    if (isSafely(() => thrown instanceof TransactionNotBegun)) {
      const { message } = databaseError("No transaction could be begun", (thrown as TransactionNotBegun).cause);
      this.#options.logger.warn({ job: attempt.id, kind: attempt.row.kind, error: message }, "A job is put back unstarted.");
      this.#options.onNoTransaction();
      return { type: "unsettled", outcome: { type: "released", isAttemptSpent: false } };
    }
    // A timeout is the failure, whatever the handler made of its signal.
    const failure = reason?.code === "ATTEMPT_TIMEOUT" ? reason : thrown;
    const { maxAttempts, kind } = attempt;
    return { type: "unsettled", outcome: decideOutcome(failure, { attempt: attempt.attempt, maxAttempts, backoff: kind.options.backoff }) };
  }

  /**
   * Aborts the attempt when its time is over. A handler that ignores that is waited for, so that the next attempt does not
   * overlap it; but not for ever, and then the attempt fails while the handler goes on.
   */
  async #withTimeout(attempt: RunningAttempt, run: () => Promise<AttemptResult>): Promise<AttemptResult> {
    const { timeoutMs } = attempt.kind.options;
    if (timeoutMs === undefined) return run();
    const { clock, lateHandlerMs } = this.#options;
    let cancel = () => {};
    const late = new Promise<never>((_resolve, reject) => {
      cancel = clock.after(timeoutMs, () => {
        abortAttempt(
          attempt,
          queueError("ATTEMPT_TIMEOUT", `The attempt took longer than its timeout of ${timeoutMs} ms.`, { jobId: attempt.id, timeoutMs }),
        );
        cancel = clock.after(lateHandlerMs, () => reject(attempt.abortedBy));
      });
    });
    try {
      return await Promise.race([run(), late]);
    } finally {
      cancel();
    }
  }

  async #toJob({ row, kind, attempt, maxAttempts }: RunningAttempt): Promise<unknown> {
    const stored: unknown = JSON.parse(row.payload);
    const { schema } = kind.definition;
    const payload = schema === undefined ? stored : checkPayload(row.kind, schema, stored);
    return {
      id: row.id,
      kind: row.kind,
      payload: payload instanceof Promise ? await payload : payload,
      lane: row.lane,
      attempt,
      maxAttempts,
      key: row.idempotency_key,
      createdAt: toDate(row.created_at),
      runAt: toDate(row.run_at),
    };
  }

  #context(attempt: RunningAttempt): AnyContext {
    const { schema, logger, once } = this.#options;
    const { id, row } = attempt;
    return {
      get signal() {
        return controllerOf(attempt).signal;
      },
      get log() {
        return bindLogger(logger, { job: id, kind: row.kind, attempt: attempt.attempt });
      },
      idempotencyKey: `${schema}/${row.kind}/${id}`,
      once: (key, fn, options) => once.once(attempt, controllerOf(attempt).signal, key, fn, options),
    };
  }
}

/** A controller costs a microsecond that most handlers never need. */
function controllerOf(attempt: RunningAttempt): AbortController {
  attempt.controller ??= new AbortController();
  return attempt.controller;
}

/** A stop leaves a handler that has finished its work as it is, and of a lease the fence decides; a timeout does not. */
function throwIfOver({ abortedBy }: RunningAttempt): void {
  if (abortedBy !== undefined && abortedBy.code !== "WORKER_STOPPING" && abortedBy.code !== "LEASE_LOST") throw abortedBy;
}

function isLeaseLost(thrown: unknown): boolean {
  return isSafely(() => QueueError.is(thrown, "LEASE_LOST"));
}

/** Whatever was thrown: a proxy may throw when it is asked. */
function isSafely(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false;
  }
}

function outcomeOf(result: unknown): Outcome {
  const delayMs = snoozeMs(result);
  return delayMs === undefined ? systemDone : { type: "snoozed", delayMs };
}
