import { PGlite } from "@electric-sql/pglite";
import { fromPglite, PgliteDialect, pgliteListener } from "@queue/pglite";
import { Kysely } from "kysely";
import { workJobs } from "./work-jobs.mjs";

const pglite = await PGlite.create();
const db = new Kysely({ dialect: new PgliteDialect({ pglite }) });
const begin = (body, { commit }) =>
  pglite.transaction(async (tx) => {
    await body(fromPglite(tx));
    if (!commit) await tx.rollback();
  });
await workJobs({ db, listener: pgliteListener(pglite), begin });
await pglite.close();
console.log("worked");
