import { EntitySchema } from "@mikro-orm/core";
import { EntityCaseNamingStrategy, type EntityManager, MikroORM } from "@mikro-orm/postgresql";
import { fromMikroOrm, mikroOrmDatabase } from "@queue/mikro-orm";
import { pgListener } from "@queue/pg";
import { useTestDatabase } from "@queue/test-database";
import { describeConformance } from "@queue/testing/conformance";

const database = useTestDatabase({ template: "empty" });
/** MikroORM wants at least one. */
const orders = new EntitySchema<{ id: string }>({ name: "Order", properties: { id: { type: "string", primary: true } } });

describeConformance<EntityManager>("@queue/mikro-orm", async () => {
  const orm = await MikroORM.init({
    clientUrl: database.url,
    entities: [orders],
    namingStrategy: EntityCaseNamingStrategy,
    forceUtcTimezone: true,
  });
  return {
    db: mikroOrmDatabase(orm),
    listener: pgListener({ connectionString: database.url }),
    inHandler: fromMikroOrm,
    async executorInTransaction(fn, { commit }) {
      const em = orm.em.fork();
      await em.begin();
      try {
        await fn(fromMikroOrm(em));
        await (commit ? em.commit() : em.rollback());
      } catch (error) {
        await em.rollback();
        throw error;
      }
    },
    nested: (em, fn) => em.transactional(fn),
    close: () => orm.close(),
  };
});
