import type { Knex } from "knex";
import { type AdapterDatabase, type ExecutableQuery, type Executor, queueError, showValue } from "@queue/core/adapter";
import { fromKnex } from "./from-knex.js";
import type { KnexClient } from "./pg-connection.js";

/**
 * A Knex as a worker, `migrate` and `queue.admin` take it. Transactional handlers get the `Knex.Transaction` that their
 * completion commits with; commit and rollback are the worker's.
 *
 * @throws QueueError `INVALID_OPTION` when `knex` is no Knex, or a transaction
 * @example createWorker({ queue, db: knexDatabase(knex), handlers });
 */
export function knexDatabase<TRecord extends object, TResult>(
  knex: Knex<TRecord, TResult>,
): AdapterDatabase<Knex.Transaction<TRecord, TResult>> {
  if (typeof knex !== "function" || typeof knex.transaction !== "function" || knex.isTransaction === true) {
    throw queueError(
      "INVALID_OPTION",
      `knexDatabase takes a Knex with a pool (knex({ client: "pg", … })), and not a transaction, but was given ${showValue(knex)}.`,
      { option: "knex" },
    );
  }
  const client: KnexClient = knex.client;
  return {
    adapter: "knex",
    scope: client.config,
    async execute<R>({ sql, parameters }: ExecutableQuery): Promise<{ rows: R[] }> {
      const connection = await client.acquireConnection();
      try {
        const { rows } = await connection.query<R>({ text: sql, values: [...parameters] });
        return { rows };
      } finally {
        await client.releaseConnection(connection);
      }
    },
    transaction: (body) => transact(knex, body),
  };
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
    const result = await body(trx, executor);
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
