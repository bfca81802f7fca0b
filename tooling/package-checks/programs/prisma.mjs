import { PrismaPg } from "@prisma/adapter-pg";
import { pgListener } from "@queue/pg";
import { fromPrisma, prismaDatabase } from "@queue/prisma";
import { orRolledBack, rolledBack, workJobs } from "./work-jobs.mjs";

// Generated for the matrix; an application has it in its own build.
const { PrismaClient } = await import(new URL("generated/client.mjs", import.meta.url).href);
const connectionString = process.env.DATABASE_URL;
const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString, max: 12 }) });
const begin = async (body, { commit }) => {
  const transaction = prisma.$transaction(async (tx) => {
    await body(fromPrisma(tx));
    if (!commit) throw rolledBack;
  });
  await orRolledBack(transaction);
};
await workJobs({ db: prismaDatabase(prisma), listener: pgListener({ connectionString }), begin });
await prisma.$disconnect();
console.log("worked");
