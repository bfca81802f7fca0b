import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { afterAll, beforeAll } from "vitest";
import { findPooler, type Pooler, startPooler, type TestDatabase, throughPooler } from "@queue/test-database";

/** Where there is none, the tests that need it say so. */
export const hasPooler = findPooler() !== undefined;

export interface PooledDatabase {
  /** The database, through the pooler. */
  readonly url: string;
  /** A Kysely on a pool of its own, through the pooler; ended with the file. */
  open(config?: pg.PoolConfig): Kysely<unknown>;
}

/** A PgBouncer of the file's own before its database. */
export function usePooler(database: TestDatabase): PooledDatabase {
  let pooler: Pooler | undefined;
  const pools: pg.Pool[] = [];
  const url = () => {
    if (pooler === undefined) throw new Error("The pooler is there from beforeAll to afterAll.");
    return throughPooler(database.url, pooler);
  };

  beforeAll(async () => {
    if (hasPooler) pooler = await startPooler({ server: { url: database.url } });
  });
  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.end()));
    await pooler?.stop();
  });

  return {
    get url() {
      return url();
    },
    open(config = {}) {
      const pool = new pg.Pool({ connectionString: url(), ...config });
      pools.push(pool);
      return new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
    },
  };
}
