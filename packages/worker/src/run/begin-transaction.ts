import type { AdapterDatabase, Executor } from "@queue/core/adapter";

/**
 * At READ COMMITTED, as the port promises: heartbeats change the job's row meanwhile, and above it the completion would fail for
 * every handler that takes longer than one.
 *
 * Settles when `body` has, too. Some libraries reject as soon as the connection is lost, while the handler still runs; the
 * next attempt would begin beside it.
 */
export function beginTransaction<T>(db: AdapterDatabase<unknown>, body: (trx: unknown, executor: Executor) => Promise<T>): Promise<T> {
  let running: Promise<T> | undefined;
  return db
    .transaction((trx, executor) => (running = body(trx, executor)))
    .catch(async (error: unknown) => {
      if (running === undefined) throw new TransactionNotBegun(error);
      await running.catch(() => {}); // the transaction's error says more: that of the connection, or the same
      throw error;
    });
}

/** The database gave no transaction, so the handler was not called: no failure of the job's. */
export class TransactionNotBegun {
  readonly cause: unknown;
  constructor(cause: unknown) {
    this.cause = cause;
  }
}
