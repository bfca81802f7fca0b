import type { Knex } from "knex";
import {
  type AdapterDatabase,
  type ExecutableQuery,
  type Executor,
  hasMethods,
  type KnexClient,
  queueError,
  runOnKnex,
  runToCommit,
  showGiven,
  showValue,
} from "@queue/core/adapter";
import { fromKnex } from "./from-knex.js";

/**
 * A Knex as a worker, `migrate` and `queue.admin` take it. Transactional handlers get the `Knex.Transaction` that their
 * completion commits with; commit and rollback are the worker's.
 *
 * @throws QueueError `INVALID_OPTION` when `knex` is no Knex, one of another database than PostgreSQL, or a transaction
 * @example createWorker({ queue, db: knexDatabase(knex), handlers });
 */
export function knexDatabase<TRecord extends object, TResult>(
  knex: Knex<TRecord, TResult>,
): AdapterDatabase<Knex.Transaction<TRecord, TResult>> {
  refuseOtherThanDatabase(knex);
  const client: KnexClient = knex.client;
  return {
    adapter: "knex",
    scope: client.config,
    execute: <R>(query: ExecutableQuery) => runOnKnex<R>(client, query),
    transaction: (body) => transact(knex, body),
  };
}

function refuseOtherThanDatabase(knex: unknown): void {
  const takes = 'knexDatabase takes a Knex with a pool (knex({ client: "pg", … })), and not a transaction';
  if (typeof knex !== "function" || !hasMethods(knex, "transaction") || ("isTransaction" in knex && knex.isTransaction === true)) {
    throw queueError("INVALID_OPTION", `${takes}, but was given ${showGiven(knex)}.`, { option: "knex" });
  }
  const { client } = knex as { readonly client?: { readonly dialect?: unknown } };
  if (client?.dialect !== "postgresql") {
    throw queueError("INVALID_OPTION", `${takes}, but was given one of another database (${showValue(client?.dialect)}).`, {
      option: "knex",
    });
  }
}

/** By hand: with a callback, Knex ends a transaction by itself, and rejects with the error of a rollback that failed. */
async function transact<TRecord extends object, TResult, T>(
  knex: Knex<TRecord, TResult>,
  body: (trx: Knex.Transaction<TRecord, TResult>, executor: Executor) => Promise<T>,
): Promise<T> {
  const trx = (await knex.transaction()) as Knex.Transaction<TRecord, TResult>;
  try {
    const executor = fromKnex(trx);
    // Knex has no option for READ WRITE. Its own for the level would be one more statement.
    await executor.execute({ sql: "set transaction isolation level read committed read write", parameters: [] });
    const result = await runToCommit(executor, (watched) => body(trx, watched));
    await trx.commit();
    // What `commit()` returns resolves also when the commit failed.
    await trx.executionPromise;
    return result;
  } catch (error) {
    await trx.rollback();
    // Ended, by the rollback or because it could not be: the connection is given back, and the error is the body's.
    await trx.executionPromise.catch(() => {});
    throw error;
  }
}
