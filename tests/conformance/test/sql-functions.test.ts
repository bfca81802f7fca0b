import { fromPg, pgDatabase, pgListener } from "@queue/pg";
import { useTestDatabase } from "@queue/test-database";
import { describeConformance } from "@queue/testing/conformance";
import type pg from "pg";
import { expect, test } from "vitest";
import { sendFunctions, statementsWithFunctions } from "./support/by-functions.js";

const database = useTestDatabase({ template: "empty" });
const { byFunctions, database: throughFunctions, done } = sendFunctions();

describeConformance<pg.PoolClient>("the functions for other languages", async () => ({
  db: throughFunctions(pgDatabase(database.newPool())),
  listener: pgListener({ connectionString: database.url }),
  inHandler: (trx) => byFunctions(fromPg(trx)),
  async executorInTransaction(fn, { commit }) {
    const client = await database.pool.connect();
    try {
      await client.query("begin");
      await fn(byFunctions(fromPg(client)));
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

test("the suite has gone through every function that stands for a statement", () => {
  expect([...done].sort()).toEqual([...statementsWithFunctions].sort());
});
