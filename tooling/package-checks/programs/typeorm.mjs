import { pgListener } from "@queue/pg";
import { fromTypeorm, typeormDatabase } from "@queue/typeorm";
import { DataSource } from "typeorm";
import { orRolledBack, rolledBack, workJobs } from "./work-jobs.mjs";

const connectionString = process.env.DATABASE_URL;
const dataSource = await new DataSource({ type: "postgres", url: connectionString, extra: { max: 12 } }).initialize();
const begin = async (body, { commit }) => {
  const transaction = dataSource.transaction(async (manager) => {
    await body(fromTypeorm(manager));
    if (!commit) throw rolledBack;
  });
  await orRolledBack(transaction);
};
await workJobs({ db: typeormDatabase(dataSource), listener: pgListener({ connectionString }), begin });
await dataSource.destroy();
console.log("worked");
