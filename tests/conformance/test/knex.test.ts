import { fromKnex, knexDatabase } from "@queue/knex";
import { pgListener } from "@queue/pg";
import { useTestDatabase } from "@queue/test-database";
import { describeConformance } from "@queue/testing/conformance";
import { knex as createKnex, type Knex } from "knex";

const database = useTestDatabase({ template: "empty" });

describeConformance<Knex.Transaction>("@queue/knex", async () => {
  const knex = createKnex({ client: "pg", connection: database.url, pool: { min: 0, max: 10 } });
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
    close: () => knex.destroy(),
  };
});
