import { queueError, type QueueError } from "../errors/queue-error.js";

/** in_failed_sql_transaction: a statement has failed before, and the server takes no other until the transaction is rolled back. */
export const abortedState = "25P02";

/**
 * What a transaction rejects with whose commit the server answers, or would answer, by a rollback: a statement had failed in it
 * and nobody said so. `cause` is what the server refused a later statement with, where one was sent.
 *
 * @example if (command === "ROLLBACK") throw commitWasRollback();
 */
export function commitWasRollback(cause?: unknown): QueueError {
  return queueError(
    "DATABASE_ERROR",
    "The transaction was rolled back: one of its statements had failed, and its error was swallowed. Let that reject, or run what may fail in a savepoint.",
    { sqlState: abortedState },
    cause === undefined ? undefined : { cause },
  );
}
