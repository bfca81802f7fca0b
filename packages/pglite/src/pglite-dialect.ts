import {
  type DatabaseIntrospector,
  type Dialect,
  type DialectAdapter,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryCompiler,
} from "kysely";
import { PgliteDriver, type PgliteInstance } from "./pglite-driver.js";

export interface PgliteDialectConfig {
  /** A `PGlite` of any copy and with any extensions. `db.destroy()` closes it. */
  readonly pglite: PgliteInstance;
}

/**
 * Kysely on PGlite, the same for kysely 0.28 and 0.29. What queries return has the JavaScript types of node-postgres (int8 and
 * numeric are strings, timestamptz a Date, bytea a Buffer), so that code runs on both without a change; the instance's own
 * `query()` returns the same from then on.
 *
 * There is one connection. Queries and transactions take turns in the order they come; a query on `db` from inside a
 * `db.transaction()` callback waits for the transaction, which waits for the query: it is rejected after a second with
 * `INVALID_OPTION`, see `PgliteDriver`.
 *
 * @example const db = new Kysely<Database>({ dialect: new PgliteDialect({ pglite: await PGlite.create() }) });
 */
export class PgliteDialect implements Dialect {
  readonly #config: PgliteDialectConfig;

  constructor(config: PgliteDialectConfig) {
    this.#config = config;
  }

  createDriver(): Driver {
    return new PgliteDriver(this.#config.pglite);
  }

  createQueryCompiler(): QueryCompiler {
    return new PostgresQueryCompiler();
  }

  createAdapter(): DialectAdapter {
    // Said in our own words and not in kysely's: 0.29 would then take the turns itself, where nothing finds a deadlock.
    return Object.assign(new PostgresAdapter(), { hasOneConnection: true });
  }

  // oxlint-disable-next-line no-explicit-any -- Kysely's own signature
  createIntrospector(db: Kysely<any>): DatabaseIntrospector {
    return new PostgresIntrospector(db);
  }
}
