import type { Pool, PoolClient } from "@neondatabase/serverless";
import { type AdapterDatabase, commitWasRollback, type ExecutableQuery, type Executor, queueError, showGiven } from "@queue/core/adapter";
import { fromNeon, isPool } from "./from-neon.js";

/**
 * A `Pool` of Neon's driver as a worker, `migrate` and `queue.admin` take it. Transactional handlers get the `PoolClient` that
 * their transaction is open on; commit and rollback are the worker's.
 *
 * @throws QueueError `INVALID_OPTION` when `pool` is no pool
 * @example createWorker({ queue, db: neonDatabase(pool), handlers });
 */
export function neonDatabase(pool: Pool): AdapterDatabase<PoolClient> {
  if (!isPool(pool)) {
    throw queueError(
      "INVALID_OPTION",
      `neonDatabase takes a Pool of @neondatabase/serverless, because a worker needs more than one connection, and transactions, which neon() has not; but was given ${showGiven(pool)}.`,
      { option: "pool" },
    );
  }
  return {
    adapter: "neon",
    scope: pool,
    async execute<R>({ sql, parameters }: ExecutableQuery) {
      const { rows } = await pool.query<R & Record<string, unknown>>({ text: sql, values: [...parameters] });
      return { rows };
    },
    transaction: (body) => transact(pool, body),
  };
}

async function transact<T>(pool: Pool, body: (trx: PoolClient, executor: Executor) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  // A connection that is lost between two statements says so by an event, which would end the process if nobody heard it.
  const onLoss = () => (broken ??= new Error("The connection was lost."));
  client.on("error", onLoss);
  try {
    await client.query("begin isolation level read committed read write");
    const result = await body(client, fromNeon(client));
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
    client.off("error", onLoss);
    client.release(broken);
  }
}
