import { AsyncLocalStorage } from "node:async_hooks";
import type { PGliteInterface } from "@electric-sql/pglite";
import { CompiledQuery, type DatabaseConnection, type Driver, type QueryResult, type TransactionSettings } from "kysely";
import { ConnectionTurns } from "./connection-turns.js";
import { OpenTransaction } from "./open-transaction.js";
import { giveTypesOfPg, type TypedInstance } from "./types-of-pg.js";
import { toParameter } from "./to-parameter.js";

/** What the dialect uses of a `PGlite`. */
export type PgliteInstance = Pick<PGliteInterface, "query" | "transaction" | "close" | "closed" | "waitReady"> & TypedInstance;

/**
 * One connection, taken in turns.
 *
 * A query on `db` inside the callback of `db.transaction()` can end in a deadlock, and must not end in a hang. Whether the
 * callback waits for the query cannot be known (it may have been sent off without waiting, and get its turn after the
 * commit), so it is judged as PostgreSQL judges deadlocks: a caller that waits for its turn from inside the callback of the
 * open transaction, while that transaction has had nothing to do for a second, is rejected. The async context tells who is
 * inside; callers outside wait as long as it takes. A transaction begun by `db.startTransaction()` has no callback, and
 * nobody is inside it: there a hang stays a hang.
 */
export class PgliteDriver implements Driver {
  readonly #pglite: PgliteInstance;
  readonly #connection: PgliteConnection;
  readonly #turns = new ConnectionTurns();
  readonly #inside = new AsyncLocalStorage<{ readonly transaction: () => OpenTransaction | undefined } | null>();

  constructor(pglite: PgliteInstance) {
    this.#pglite = pglite;
    this.#connection = new PgliteConnection(pglite);
    // Switches the tracking of contexts on. Node 20 tracks no promise that was made before, and would take the context of
    // the first transaction for everybody's.
    this.#inside.run(null, () => {});
  }

  async init(): Promise<void> {
    await this.#pglite.waitReady;
    giveTypesOfPg(this.#pglite);
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    await this.#turns.take(this.#inside.getStore()?.transaction());
    return this.#connection;
  }

  /**
   * Not async: the context is entered in the turn of Kysely's `await driver.beginTransaction()`, whose continuation runs the
   * callback. Outside of Kysely's own async function, it is not seen.
   */
  beginTransaction(_connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    let transaction: OpenTransaction | undefined;
    this.#inside.enterWith({ transaction: () => transaction });
    return OpenTransaction.begin(this.#pglite, settings).then((begun) => {
      transaction = begun;
      this.#connection.transaction = begun;
    });
  }

  async commitTransaction(): Promise<void> {
    await this.#connection.endTransaction("commit");
  }

  async rollbackTransaction(): Promise<void> {
    await this.#connection.endTransaction("rollback");
  }

  async savepoint(connection: DatabaseConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`savepoint ${quoteIdentifier(name)}`));
  }

  async rollbackToSavepoint(connection: DatabaseConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`rollback to ${quoteIdentifier(name)}`));
  }

  async releaseSavepoint(connection: DatabaseConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`release ${quoteIdentifier(name)}`));
  }

  async releaseConnection(): Promise<void> {
    this.#turns.release();
  }

  async destroy(): Promise<void> {
    if (!this.#pglite.closed) await this.#pglite.close();
  }
}

class PgliteConnection implements DatabaseConnection {
  transaction: OpenTransaction | undefined;
  readonly #pglite: PgliteInstance;

  constructor(pglite: PgliteInstance) {
    this.#pglite = pglite;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { rows, affectedRows } = await (this.transaction ?? this.#pglite).query<R>(sql, parameters.map(toParameter));
    return affectedRows === undefined ? { rows } : { rows, numAffectedRows: BigInt(affectedRows) };
  }

  /** The rows are in this process already: they are read at once, and handed out `chunkSize` at a time. */
  async *streamQuery<R>(query: CompiledQuery, chunkSize = 100): AsyncIterableIterator<QueryResult<R>> {
    if (!Number.isInteger(chunkSize) || chunkSize <= 0) throw new RangeError(`chunkSize must be a positive integer, but is ${chunkSize}.`);
    const { rows } = await this.executeQuery<R>(query);
    for (let start = 0; start < rows.length; start += chunkSize) yield { rows: rows.slice(start, start + chunkSize) };
  }

  async endTransaction(end: "commit" | "rollback"): Promise<void> {
    const transaction = this.transaction;
    this.transaction = undefined;
    await transaction?.[end]();
  }
}

function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
