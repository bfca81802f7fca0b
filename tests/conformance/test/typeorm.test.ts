import { pgListener } from "@queue/pg";
import { useTestDatabase } from "@queue/test-database";
import { describeConformance } from "@queue/testing/conformance";
import { fromTypeorm, typeormDatabase } from "@queue/typeorm";
import { DataSource, type EntityManager } from "typeorm";

const database = useTestDatabase({ template: "empty" });

describeConformance<EntityManager>("@queue/typeorm", async () => {
  const dataSource = await new DataSource({ type: "postgres", url: database.url }).initialize();
  return {
    db: typeormDatabase(dataSource),
    listener: pgListener({ connectionString: database.url }),
    inHandler: fromTypeorm,
    async executorInTransaction(fn, { commit }) {
      const runner = dataSource.createQueryRunner();
      try {
        await runner.startTransaction();
        await fn(fromTypeorm(runner.manager));
        await (commit ? runner.commitTransaction() : runner.rollbackTransaction());
      } catch (error) {
        await runner.rollbackTransaction();
        throw error;
      } finally {
        await runner.release();
      }
    },
    close: () => dataSource.destroy(),
  };
});
