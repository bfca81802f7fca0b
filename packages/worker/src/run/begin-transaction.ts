import type { KyselyLike } from "@queue/core";
import type { WorkerDatabase } from "../database/worker-database.js";

/** The part of Kysely's transaction builder that is used, and that is the same in 0.28 and 0.29. */
interface TransactionShape {
  setIsolationLevel(level: "read committed"): {
    setAccessMode(mode: "read write"): { execute<T>(body: (trx: KyselyLike) => Promise<T>): Promise<T> };
  };
}

/**
 * At READ COMMITTED, whatever the database's default: heartbeats change the job's row meanwhile, and above it the completion
 * would fail for every handler that takes longer than one.
 */
export function beginTransaction<T>(db: WorkerDatabase, body: (trx: KyselyLike) => Promise<T>): Promise<T> {
  const transaction = db.transaction() as unknown as TransactionShape;
  let isBegun = false;
  return transaction
    .setIsolationLevel("read committed")
    .setAccessMode("read write")
    .execute((trx) => {
      isBegun = true;
      return body(trx);
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
