import { EntitySchema, MikroORM } from "@mikro-orm/postgresql";
import { fromMikroOrm, mikroOrmDatabase } from "@queue/mikro-orm";
import { pgListener } from "@queue/pg";
import { orRolledBack, rolledBack, workJobs } from "./work-jobs.mjs";

const connectionString = process.env.DATABASE_URL;
const order = new EntitySchema({ name: "Order", properties: { id: { type: "string", primary: true } } });
const orm = await MikroORM.init({ clientUrl: connectionString, entities: [order], pool: { min: 0, max: 12 } });
const begin = async (body, { commit }) => {
  const transaction = orm.em.fork().transactional(async (em) => {
    await body(fromMikroOrm(em));
    if (!commit) throw rolledBack;
  });
  await orRolledBack(transaction);
};
await workJobs({ db: mikroOrmDatabase(orm), listener: pgListener({ connectionString }), begin });
await orm.close();
console.log("worked");
