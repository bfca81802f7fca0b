import { fromKnex, knexDatabase } from "@queue/knex";
import { pgListener } from "@queue/pg";
import { useTestDatabase } from "@queue/test-database";
import { describeConformance } from "@queue/testing/conformance";
import { knex as createKnex, type Knex } from "knex";
import { getTypeParser } from "./support/type-parsers.js";

const database = useTestDatabase({ template: "empty" });

describeConformance<Knex.Transaction>("@queue/knex", async () => {
  // With all that an application may change.
  const knex = createKnex({
    client: "pg",
    connection: { connectionString: database.url, types: { getTypeParser } },
    wrapIdentifier: (value, wrap) => wrap(value.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)),
    postProcessResponse: () => {
      throw new Error("A response of the queue's went through postProcessResponse.");
    },
    pool: { min: 0, max: 10 },
  });
  return {
    db: knexDatabase(knex),
    listener: pgListener({ connectionString: database.url }),
    inHandler: fromKnex,
    async executorInTransaction(fn, { commit }) {
      await knex.transaction(async (trx) => {
        await fn(fromKnex(trx));
        if (!commit) await trx.rollback();
      });
    },
    nested: (trx, fn) => trx.transaction(fn),
    close: () => knex.destroy(),
  };
});
