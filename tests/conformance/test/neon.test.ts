import { Pool, type PoolClient } from "@neondatabase/serverless";
import { fromNeon, neonDatabase, neonListener } from "@queue/neon";
import { useTestDatabase } from "@queue/test-database";
import { describeConformance, describeListener } from "@queue/testing/conformance";
import { openWebSocketProxy } from "../../../packages/neon/test/websocket-proxy.js";

const database = useTestDatabase({ template: "empty" });

describeListener("@queue/neon", async () => {
  const proxy = await openWebSocketProxy();
  return {
    url: database.url,
    listener: ({ url, connectTimeoutMs, applicationName, ...options }) =>
      neonListener({ connectionString: url, connectionTimeoutMillis: connectTimeoutMs, application_name: applicationName, ...options }),
    run: async (sql, parameters) => (await database.pool.query(sql, [...parameters])).rows,
    whenTerminated: { loss: { code: "57P01" }, statement: { code: "57P01" } },
    async close() {
      await proxy[Symbol.asyncDispose]();
    },
  };
});

describeConformance<PoolClient>("@queue/neon", async () => {
  const proxy = await openWebSocketProxy();
  const pool = new Pool({ connectionString: database.url });
  return {
    db: neonDatabase(pool),
    listener: neonListener({ connectionString: database.url }),
    inHandler: fromNeon,
    async executorInTransaction(fn, { commit }) {
      const client = await pool.connect();
      try {
        await client.query("begin");
        await fn(fromNeon(client));
        await client.query(commit ? "commit" : "rollback");
      } catch (error) {
        await client.query("rollback");
        throw error;
      } finally {
        client.release();
      }
    },
    async close() {
      await pool.end();
      await proxy[Symbol.asyncDispose]();
    },
  };
});
