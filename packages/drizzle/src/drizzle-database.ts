import { setImmediate as nextTurn } from "node:timers/promises";
import type { PgTransactionConfig } from "drizzle-orm/pg-core";
import { type AdapterDatabase, type ExecutableQuery, type Executor, queueError, showValue } from "@queue/core/adapter";
import { fromDrizzle, isDrizzle, isTransaction, scopeOf, type DrizzleTransaction } from "./from-drizzle.js";
import { type DrizzleRunner, runStatement } from "./run-statement.js";

/** The `db` of `drizzle()`, on PostgreSQL: by shape, of whatever copy of Drizzle, driver and schema. Not a transaction. */
export interface DrizzleDatabase extends DrizzleRunner {
  transaction(body: never, config?: PgTransactionConfig): Promise<unknown>;
  readonly rollback?: never;
}

/** The transaction that `db.transaction()` gives to its callback, typed with the caller's schema. */
export type DrizzleTransactionOf<TDb extends DrizzleDatabase> = TDb["transaction"] extends (
  body: (tx: infer TTrx) => Promise<unknown>,
  config?: PgTransactionConfig,
) => unknown
  ? TTrx
  : never;

interface TransactionalShape<TTrx> {
  transaction<T>(body: (tx: TTrx & DrizzleTransaction) => Promise<T>, config: PgTransactionConfig): Promise<T>;
}

/**
 * The `db` of `drizzle()` as a worker, `migrate` and `queue.admin` take it. Transactional handlers get the `tx` of
 * `db.transaction()`, with your schema in its types; commit and rollback are the worker's.
 *
 * Drizzle cannot listen: take `pgListener` of `@queue/pg`, `postgresJsListener` of `@queue/postgres-js` or `pgliteListener` of
 * `@queue/pglite`, as your driver is.
 *
 * @throws QueueError `INVALID_OPTION` when `db` is no `drizzle()`, or a transaction
 * @example createWorker({ queue, db: drizzleDatabase(db), listener: pgListener({ connectionString }), handlers });
 */
export function drizzleDatabase<TDb extends DrizzleDatabase>(db: TDb): AdapterDatabase<DrizzleTransactionOf<TDb>> {
  if (!isDrizzle(db) || isTransaction(db)) {
    throw queueError(
      "INVALID_OPTION",
      `drizzleDatabase takes the db of drizzle(), on PostgreSQL, but was given ${isTransaction(db) ? "a transaction" : showValue(db)}.`,
      { option: "db" },
    );
  }
  return {
    adapter: "drizzle",
    scope: scopeOf(db),
    hasOneConnection: isEmbedded(db),
    execute: <R>(query: ExecutableQuery) => runStatement<R>(db, query),
    transaction: (body) => transact(db as unknown as TransactionalShape<DrizzleTransactionOf<TDb>>, body),
  };
}

async function transact<TTrx, T>(db: TransactionalShape<TTrx>, body: (trx: TTrx, executor: Executor) => Promise<T>): Promise<T> {
  const state: { failure?: { readonly error: unknown }; isOver?: boolean } = {};
  const run = async (tx: TTrx & DrizzleTransaction): Promise<T> => {
    const { executor, refuseIfAborted } = watched(fromDrizzle(tx));
    try {
      const result = await body(tx, executor);
      await refuseIfAborted();
      return result;
    } catch (error) {
      state.failure = { error };
      // Of a lost connection a statement of postgres.js hears first, and its transaction within the same turn.
      await nextTurn();
      // postgres.js would send its rollback to a socket that is no more, which ends the process: it never learns of the end.
      if (state.isOver === true) await new Promise(() => {});
      throw error;
    }
  };
  try {
    return await db.transaction(run, { isolationLevel: "read committed", accessMode: "read write" });
  } catch (error) {
    state.isOver = true;
    // When the connection is lost, Drizzle's own rollback fails, too, and its error would hide the reason.
    throw state.failure === undefined ? error : state.failure.error;
  }
}

/**
 * Drizzle does not look at what the server answers to its commit: of a transaction in which a statement has failed and nobody
 * said it, that is "rolled back". So unless the last statement succeeded, which it cannot in such a one, another is tried.
 */
function watched(executor: Executor): { executor: Executor; refuseIfAborted: () => Promise<void> } {
  let isSound = false;
  return {
    executor: {
      ...executor,
      async execute<R>(query: ExecutableQuery) {
        isSound = false;
        const answer = await executor.execute<R>(query);
        isSound = true;
        return answer;
      },
    },
    async refuseIfAborted() {
      if (!isSound) await executor.execute({ sql: "select 1", parameters: [] });
    },
  };
}

/** PGlite: one connection for all. */
function isEmbedded(db: object): boolean {
  return (
    "$client" in db && typeof db.$client === "object" && db.$client !== null && "runExclusive" in db.$client && "waitReady" in db.$client
  );
}
