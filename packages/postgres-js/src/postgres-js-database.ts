import { setImmediate as nextTurn } from "node:timers/promises";
import type { Sql, TransactionSql } from "postgres";
import {
  type AdapterDatabase,
  type ExecutableQuery,
  type Executor,
  queueError,
  runToCommit,
  showGiven,
  untilLost,
} from "@queue/core/adapter";
import { fromPostgresJs, scopeOf } from "./from-postgres-js.js";
import { runStatement } from "./run-statement.js";

/**
 * The `sql` of `postgres()` as a worker, `migrate` and `queue.admin` take it. Transactional handlers get the `TransactionSql`
 * of `sql.begin()`; commit and rollback are the worker's.
 *
 * @throws QueueError `INVALID_OPTION` when `sql` is no `postgres()`, or the `sql` of a transaction
 * @example createWorker({ queue, db: postgresJsDatabase(sql), handlers });
 */
export function postgresJsDatabase<TTypes extends Record<string, unknown>>(sql: Sql<TTypes>): AdapterDatabase<TransactionSql<TTypes>> {
  if (typeof sql !== "function" || typeof sql.begin !== "function") {
    throw queueError(
      "INVALID_OPTION",
      `postgresJsDatabase takes the sql of postgres(), which has connections and transactions, but was given ${showGiven(sql)}.`,
      { option: "sql" },
    );
  }
  return {
    adapter: "postgres-js",
    scope: scopeOf(sql),
    execute: <R>(query: ExecutableQuery) => runStatement<R>(sql, query),
    transaction: (body) => transact(sql, body),
  };
}

/**
 * `sql.begin()`, less what it does when the connection is lost: it sends its commit or rollback nevertheless, to a socket that
 * is no more, which ends the process by an uncaught TypeError (3.4.9). So it never learns that the body has ended.
 */
async function transact<TTypes extends Record<string, unknown>, T>(
  sql: Sql<TTypes>,
  body: (trx: TransactionSql<TTypes>, executor: Executor) => Promise<T>,
): Promise<T> {
  const state: { loss?: { error: unknown }; failure?: { error: unknown }; result?: { value: T } } = {};
  const run = async (trx: TransactionSql<TTypes>): Promise<void> => {
    try {
      const executor = untilLost(fromPostgresJs(trx), () => state.loss);
      const toItsEnd = async (watched: Executor) => {
        const value = await body(trx, watched);
        // What the body has swallowed may have been the loss, of which begin() hears within the same turn.
        await nextTurn();
        return value;
      };
      state.result = { value: await runToCommit(executor, toItsEnd) };
    } catch (error) {
      state.failure = { error };
      // Of a loss the statement hears first, and begin() within the same turn.
      await nextTurn();
    }
    if (state.loss !== undefined) await new Promise(() => {});
    if (state.failure !== undefined) throw state.failure.error;
  };
  try {
    const begun = sql.begin("isolation level read committed read write", run);
    await begun.catch((error: unknown) => {
      state.loss = { error };
      throw error;
    });
  } catch (error) {
    // postgres.js puts another in its place when a statement had failed before.
    throw state.failure === undefined ? error : state.failure.error;
  }
  return (state.result as { value: T }).value;
}
