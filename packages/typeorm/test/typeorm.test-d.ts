import type { DataSource, EntityManager } from "typeorm";
import { expectTypeOf, test } from "vitest";
import { createQueue, job } from "@queue/core";
import type { Executor } from "@queue/core/adapter";
import { migrate } from "@queue/core/migrations";
import { fromTypeorm, typeormDatabase } from "@queue/typeorm";
import { createWorker } from "@queue/worker";

declare const dataSource: DataSource;
declare const manager: EntityManager;
const queue = createQueue({ jobs: { note: job<{ n: number }>() } });

test("fromTypeorm takes an EntityManager, and no DataSource", () => {
  expectTypeOf(fromTypeorm(manager)).toEqualTypeOf<Executor>();
  // @ts-expect-error a DataSource has no transaction that the job could be in
  fromTypeorm(dataSource);
  // @ts-expect-error a query runner: its manager is meant
  fromTypeorm(dataSource.createQueryRunner());
});

test("transactional handlers get TypeORM's own EntityManager", () => {
  createWorker({
    queue,
    db: typeormDatabase(dataSource),
    handlers: { note: { transactional: true, run: async (_job, { trx }) => void expectTypeOf(trx).toEqualTypeOf<EntityManager>() } },
  });
  expectTypeOf(migrate(typeormDatabase(dataSource), queue)).resolves.toHaveProperty("applied");
  expectTypeOf(queue.admin(typeormDatabase(dataSource)).cancel).toBeFunction();
});
