import type { AdapterDatabase, Executor } from "@queue/core/adapter";

/**
 * At READ COMMITTED, as the port promises: heartbeats change the job's row meanwhile, and above it the completion would fail for
 * every handler that takes longer than one.
 */
export function beginTransaction<T>(db: AdapterDatabase<unknown>, body: (trx: unknown, executor: Executor) => Promise<T>): Promise<T> {
  let isBegun = false;
  return db
    .transaction((trx, executor) => {
      isBegun = true;
      return body(trx, executor);
    })
    .catch((error: unknown) => {
      throw isBegun ? error : new TransactionNotBegun(error);
    });
}

/** The database gave no transaction, so the handler was not called: no failure of the job's. */
export class TransactionNotBegun {
  readonly cause: unknown;
  constructor(cause: unknown) {
    this.cause = cause;
  }
}
