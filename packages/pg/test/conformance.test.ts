import { Kysely, PostgresDialect } from "kysely";
import { describeConformance } from "@queue/conformance";
import { fromPg, pgListener } from "@queue/pg";
import { useTestDatabase } from "@queue/test-database";

const database = useTestDatabase({ template: "empty" });

describeConformance("@queue/pg", async () => ({
  db: new Kysely<unknown>({ dialect: new PostgresDialect({ pool: database.newPool() }) }),
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
}));
