import { drizzleDatabase, fromDrizzle } from "@queue/drizzle";
import { pgListener } from "@queue/pg";
import { drizzle } from "drizzle-orm/node-postgres";
import pg from "pg";
import { orRolledBack, rolledBack, workJobs } from "./work-jobs.mjs";

const connectionString = process.env.DATABASE_URL;
const pool = new pg.Pool({ connectionString, max: 12 });
const orders = drizzle(pool);
const begin = async (body, { commit }) => {
  const transaction = orders.transaction(async (tx) => {
    await body(fromDrizzle(tx));
    if (!commit) throw rolledBack;
  });
  await orRolledBack(transaction);
};
await workJobs({ db: drizzleDatabase(orders), listener: pgListener({ connectionString }), begin });
await pool.end();
console.log("worked");
