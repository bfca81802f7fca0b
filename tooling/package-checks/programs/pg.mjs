import { fromPg, pgDatabase, pgListener } from "@queue/pg";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { workJobs } from "./work-jobs.mjs";

/** @queue/core, @queue/worker and @queue/pg: on a pool of pg, or on a Kysely. */
export async function main(connectionString = process.env.DATABASE_URL) {
  const pool = new pg.Pool({ connectionString, max: 12 });
  const begin = async (body, { commit }) => {
    const client = await pool.connect();
    await client.query("begin");
    await body(fromPg(client));
    await client.query(commit ? "commit" : "rollback");
    client.release();
  };
  await workJobs({ db: pgDatabase(pool), listener: pgListener({ connectionString }), begin });
  await workJobs({
    db: new Kysely({ dialect: new PostgresDialect({ pool }) }),
    listener: pgListener({ connectionString }),
    begin,
    schema: `${process.argv[2]}_kysely`,
  });
  await pool.end();
  console.log("worked");
}

void main();
