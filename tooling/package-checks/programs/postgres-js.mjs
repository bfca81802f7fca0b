import { fromPostgresJs, postgresJsDatabase, postgresJsListener } from "@queue/postgres-js";
import postgres from "postgres";
import { orRolledBack, rolledBack, workJobs } from "./work-jobs.mjs";

const url = process.env.DATABASE_URL;
const sql = postgres(url, { max: 12, onnotice: () => {} });
const begin = async (body, { commit }) => {
  const transaction = sql.begin(async (trx) => {
    await body(fromPostgresJs(trx));
    if (!commit) throw rolledBack;
  });
  await orRolledBack(transaction);
};
await workJobs({ db: postgresJsDatabase(sql), listener: postgresJsListener(url), begin });
await sql.end();
console.log("worked");
