import { fromPg, pgDatabase, pgListener } from "@queue/pg";
import { useTestDatabase } from "@queue/test-database";
import { type Adapter, describeConformance, describeListener } from "@queue/testing/conformance";
import { Kysely, PostgresDialect, type Transaction } from "kysely";
import type pg from "pg";

const database = useTestDatabase({ template: "empty" });

describeListener("@queue/pg", async () => ({
  url: database.url,
  listener: ({ url, connectTimeoutMs, applicationName, ...options }) =>
    pgListener({ connectionString: url, connectionTimeoutMillis: connectTimeoutMs, application_name: applicationName, ...options }),
  run: async (sql, parameters) => (await database.pool.query(sql, [...parameters])).rows,
  whenTerminated: { loss: { code: "57P01" }, statement: { code: "57P01" } },
  close: async () => {},
}));

/** The same way into a transaction for both. */
const common = (): Pick<Adapter, "executorInTransaction" | "listener" | "close"> => ({
  listener: pgListener({ connectionString: database.url }),
  async executorInTransaction(fn, { commit }) {
    const client = await database.pool.connect();
    try {
      await client.query("begin");
      await fn(fromPg(client));
      await client.query(commit ? "commit" : "rollback");
    } catch (error) {
      await client.query("rollback");
      throw error;
    } finally {
      client.release();
    }
  },
  close: async () => {},
});

describeConformance<Transaction<unknown>>("Kysely on pg", async () => ({
  ...common(),
  db: new Kysely<unknown>({ dialect: new PostgresDialect({ pool: database.newPool() }) }),
  inHandler: (trx) => trx,
}));

describeConformance<pg.PoolClient>("@queue/pg", async () => ({
  ...common(),
  db: pgDatabase(database.newPool()),
  inHandler: fromPg,
}));
