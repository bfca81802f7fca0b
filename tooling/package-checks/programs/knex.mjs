import { fromKnex, knexDatabase } from "@queue/knex";
import { pgListener } from "@queue/pg";
import createKnex from "knex";
import { orRolledBack, rolledBack, workJobs } from "./work-jobs.mjs";

const connectionString = process.env.DATABASE_URL;
const knex = createKnex({ client: "pg", connection: { connectionString }, pool: { min: 0, max: 12 } });
const begin = async (body, { commit }) => {
  const transaction = knex.transaction(async (trx) => {
    await body(fromKnex(trx));
    if (!commit) throw rolledBack;
  });
  await orRolledBack(transaction);
};
await workJobs({ db: knexDatabase(knex), listener: pgListener({ connectionString }), begin });
await knex.destroy();
console.log("worked");
