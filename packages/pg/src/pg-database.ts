import type { Pool, PoolClient, QueryResultRow } from "pg";
import { type AdapterDatabase, commitWasRollback, type ExecutableQuery, type Executor, queueError, showGiven } from "@queue/core/adapter";
import { fromPg, isPool } from "./from-pg.js";

/**
 * A pool of node-postgres as a worker, `migrate` and `queue.admin` take it. Transactional handlers get the `PoolClient` that
 * their transaction is open on; commit and rollback are the worker's.
 *
 * @throws QueueError `INVALID_OPTION` when `pool` is no pool
 * @example createWorker({ queue, db: pgDatabase(pool), handlers });
 */
export function pgDatabase(pool: Pool): AdapterDatabase<PoolClient> {
  if (!isPool(pool)) {
    throw queueError(
      "INVALID_OPTION",
      `pgDatabase takes a Pool of node-postgres, because a worker needs more than one connection, but was given ${showGiven(pool)}.`,
      { option: "pool" },
    );
  }
  return {
    adapter: "pg",
    scope: pool,
    async execute<R>({ sql, parameters }: ExecutableQuery) {
      const { rows } = await pool.query<R & QueryResultRow>({ text: sql, values: [...parameters] });
      return { rows };
    },
    transaction: (body) => transact(pool, body),
  };
}

async function transact<T>(pool: Pool, body: (trx: PoolClient, executor: Executor) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  // A client that is out of the pool has nobody who hears that it was lost, which would end the process.
  const onError = (error: Error) => {
    broken = error;
  };
  client.on("error", onError);
  try {
    await client.query("begin isolation level read committed read write");
    const result = await body(client, fromPg(client));
    const { command } = await client.query("commit");
    // The server answers so when a statement had failed and nobody said it.
    if (command === "ROLLBACK") throw commitWasRollback();
    return result;
  } catch (error) {
    await client.query("rollback").catch((reason: unknown) => {
      broken = reason instanceof Error ? reason : new Error(String(reason));
    });
    throw error;
  } finally {
    client.off("error", onError);
    client.release(broken);
  }
}
