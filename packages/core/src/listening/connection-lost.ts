import { queueError, type QueueError } from "../errors/queue-error.js";
import { sqlStateOf } from "../ports/sql-state.js";

/** What a statement on the listener's connection rejects with while that is down: `DATABASE_ERROR`, worth a retry. */
export function connectionLost(cause: unknown): QueueError {
  const sqlState = sqlStateOf(cause);
  return queueError(
    "DATABASE_ERROR",
    `The listener's connection is down: ${cause instanceof Error ? cause.message : String(cause)}`,
    { sqlState },
    { cause, isRetryable: true },
  );
}
