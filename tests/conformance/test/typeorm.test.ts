import { pgListener } from "@queue/pg";
import { useTestDatabase } from "@queue/test-database";
import { describeConformance } from "@queue/testing/conformance";
import { fromTypeorm, typeormDatabase } from "@queue/typeorm";
import { DataSource, DefaultNamingStrategy, type EntityManager } from "typeorm";
import { getTypeParser } from "./support/type-parsers.js";

const database = useTestDatabase({ template: "empty" });

class CamelCase extends DefaultNamingStrategy {
  override columnName(name: string): string {
    return name.replaceAll(/_[a-z]/g, (part) => part.slice(1).toUpperCase());
  }
}

describeConformance<EntityManager>("@queue/typeorm", async () => {
  // With all that an application may change.
  const dataSource = await new DataSource({
    type: "postgres",
    url: database.url,
    namingStrategy: new CamelCase(),
    parseInt8: true,
    isolationLevel: "REPEATABLE READ",
    extra: { types: { getTypeParser } },
  }).initialize();
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
    nested: (manager, fn) => manager.transaction(fn),
    close: () => dataSource.destroy(),
  };
});
