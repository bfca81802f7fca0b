import { PrismaPg } from "@prisma/adapter-pg";
import { pgListener } from "@queue/pg";
import { fromPrisma, prismaDatabase, type PrismaDatabase, type PrismaTransaction } from "@queue/prisma";
import { useTestDatabase } from "@queue/test-database";
import { describeConformance } from "@queue/testing/conformance";
import { generateClient } from "../../../packages/prisma/test/generate-client.js";

const database = useTestDatabase({ template: "empty" });

interface Transaction extends PrismaTransaction {
  $transaction(body: (tx: Transaction) => Promise<void>): Promise<void>;
}

interface Client extends PrismaDatabase<Transaction> {
  $disconnect(): Promise<void>;
}

describeConformance<Transaction>("@queue/prisma", async () => {
  const generated = await generateClient();
  const { PrismaClient } = (await import(generated.file)) as { PrismaClient: new (options: object) => Client };
  const prisma = new PrismaClient({
    adapter: new PrismaPg({ connectionString: database.url }),
    transactionOptions: { isolationLevel: "RepeatableRead" },
  });
  const rolledBack = new Error("rolled back");
  return {
    db: prismaDatabase(prisma),
    listener: pgListener({ connectionString: database.url }),
    inHandler: fromPrisma,
    async executorInTransaction(fn, { commit }) {
      const transaction = prisma.$transaction(async (tx) => {
        await fn(fromPrisma(tx));
        if (!commit) throw rolledBack;
      });
      await transaction.then(undefined, (error: unknown) => {
        if (error !== rolledBack) throw error;
      });
    },
    nested: (tx, fn) => tx.$transaction(fn),
    async close() {
      await prisma.$disconnect();
      await generated.remove();
    },
  };
});
