import { setImmediate as nextTurn } from "node:timers/promises";
import type { PgTransactionConfig } from "drizzle-orm/pg-core";
import {
  type AdapterDatabase,
  type ExecutableQuery,
  type Executor,
  queueError,
  runToCommit,
  showGiven,
  showValue,
  untilLost,
} from "@queue/core/adapter";
import { type DrizzleTransaction, fromDrizzle, isDrizzle, isTransaction, scopeOf } from "./from-drizzle.js";
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
 * Drizzle cannot listen: take `pgListener` of `@queue/pg`, `postgresJsListener` of `@queue/postgres-js`, `pgliteListener` of
 * `@queue/pglite` or `neonListener` of `@queue/neon`, as your driver is.
 *
 * @throws QueueError `INVALID_OPTION` when `db` is no `drizzle()`, one of another database than PostgreSQL, or a transaction
 * @example createWorker({ queue, db: drizzleDatabase(db), listener: pgListener({ connectionString }), handlers });
 */
export function drizzleDatabase<TDb extends DrizzleDatabase>(db: TDb): AdapterDatabase<DrizzleTransactionOf<TDb>> {
  refuseOtherThanDatabase(db);
  return {
    adapter: "drizzle",
    scope: scopeOf(db),
    hasOneConnection: isEmbedded(db),
    execute: <R>(query: ExecutableQuery) => runStatement<R>(db, query),
    transaction: (body) => transact(db as unknown as TransactionalShape<DrizzleTransactionOf<TDb>>, body),
  };
}

function refuseOtherThanDatabase(db: unknown): void {
  const dialect = dialectOf(db) ?? "PgDialect";
  const isPostgres = dialect === "PgDialect";
  if (isPostgres && isDrizzle(db) && !isTransaction(db)) return;
  const given = !isPostgres ? `one of another database (${showValue(dialect)})` : isTransaction(db) ? "a transaction" : showGiven(db);
  throw queueError("INVALID_OPTION", `drizzleDatabase takes the db of drizzle(), on PostgreSQL, but was given ${given}.`, { option: "db" });
}

/** The name of its class, by which Drizzle itself knows classes of other copies: "PgDialect", "MySqlDialect", "SQLiteSyncDialect" … */
function dialectOf(db: unknown): unknown {
  const { dialect } = (db ?? {}) as { readonly dialect?: { readonly constructor: { readonly [kind: symbol]: unknown } } };
  return dialect?.constructor[Symbol.for("drizzle:entityKind")];
}

async function transact<TTrx, T>(db: TransactionalShape<TTrx>, body: (trx: TTrx, executor: Executor) => Promise<T>): Promise<T> {
  const state: { loss?: { readonly error: unknown }; failure?: { readonly error: unknown } } = {};
  const run = async (tx: TTrx & DrizzleTransaction): Promise<T> => {
    const trx = untilLost(fromDrizzle(tx), () => state.loss);
    try {
      return await runToCommit(trx, async (executor) => {
        const result = await body(tx, executor);
        // What the body has swallowed may have been the loss of the connection.
        await nextTurn();
        return result;
      });
    } catch (error) {
      state.failure = { error };
      // Of a lost connection a statement of postgres.js hears first, and its transaction within the same turn.
      await nextTurn();
      throw error;
    } finally {
      // postgres.js would send its commit or rollback to a socket that is no more, which ends the process: it never learns of the end.
      if (state.loss !== undefined) await new Promise(() => {});
    }
  };
  try {
    return await db.transaction(run, { isolationLevel: "read committed", accessMode: "read write" });
  } catch (error) {
    state.loss = { error };
    // When the connection is lost, Drizzle's own rollback fails, too, and its error would hide the reason.
    throw state.failure === undefined ? error : state.failure.error;
  }
}

/** PGlite: one connection for all. */
function isEmbedded(db: object): boolean {
  return (
    "$client" in db && typeof db.$client === "object" && db.$client !== null && "runExclusive" in db.$client && "waitReady" in db.$client
  );
}
