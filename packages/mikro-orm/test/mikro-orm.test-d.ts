import type { EntityManager, MikroORM } from "@mikro-orm/postgresql";
import { expectTypeOf, test } from "vitest";
import { createQueue, job } from "@queue/core";
import type { Executor } from "@queue/core/adapter";
import { migrate } from "@queue/core/migrations";
import { fromMikroOrm, mikroOrmDatabase } from "@queue/mikro-orm";
import { createWorker } from "@queue/worker";

declare const orm: MikroORM;
declare const em: EntityManager;
const queue = createQueue({ jobs: { note: job<{ n: number }>() } });

test("fromMikroOrm takes an EntityManager, and no MikroORM", () => {
  expectTypeOf(fromMikroOrm(em)).toEqualTypeOf<Executor>();
  // @ts-expect-error a MikroORM has no transaction that the job could be in
  fromMikroOrm(orm);
  // @ts-expect-error a forgotten await
  fromMikroOrm(em.transactional(async (inner) => inner));
});

test("transactional handlers get the EntityManager of the given driver", () => {
  createWorker({
    queue,
    db: mikroOrmDatabase(orm),
    handlers: {
      note: {
        transactional: true,
        run: async (_job, { trx }) => {
          expectTypeOf(trx).toEqualTypeOf<typeof orm.em>();
          expectTypeOf(trx).toExtend<EntityManager>();
          expectTypeOf(trx.getKnex).toBeFunction();
        },
      },
    },
  });
  expectTypeOf(migrate(mikroOrmDatabase(orm), queue)).resolves.toHaveProperty("applied");
  expectTypeOf(queue.admin(mikroOrmDatabase(orm)).cancel).toBeFunction();
});
