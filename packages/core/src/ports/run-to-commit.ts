import { abortedState, commitWasRollback } from "./commit-was-rollback.js";
import type { ExecutableQuery, Executor } from "./executor.js";
import { sqlStateOf } from "./sql-state.js";

/**
 * Runs the body of a transaction that a library is about to commit, for an adapter whose library does not look at what the
 * server answers: of a transaction in which a statement has failed and nobody said it, that is "rolled back", and the library
 * would take it for committed. `executor` runs statements in the transaction.
 *
 * Costs nothing when the last statement of the executor that the body gets succeeded, which it cannot in such a transaction;
 * otherwise one more is sent. What the library itself runs after that last statement is not seen: a worker's completion is the
 * last statement of a handler's transaction.
 *
 * @throws QueueError `DATABASE_ERROR` with `sqlState` "25P02" when the commit would be a rollback; what `body` rejects with
 * @example transaction: (body) => db.transaction((trx) => runToCommit(fromMine(trx), (executor) => body(trx, executor)))
 */
export async function runToCommit<T>(executor: Executor, body: (executor: Executor) => Promise<T>): Promise<T> {
  let isSound = false;
  const result = await body({
    ...executor,
    async execute<R>(query: ExecutableQuery) {
      isSound = false;
      const answer = await executor.execute<R>(query);
      isSound = true;
      return answer;
    },
  });
  if (!isSound) await refuseAborted(executor);
  return result;
}

async function refuseAborted(executor: Executor): Promise<void> {
  try {
    await executor.execute({ sql: "select 1 as ok", parameters: [] });
  } catch (cause) {
    if (sqlStateOf(cause) !== abortedState) throw cause;
    throw commitWasRollback(cause);
  }
}
