import type { Knex } from "knex";
import { expectTypeOf, test } from "vitest";
import { createQueue, job } from "@queue/core";
import type { Executor } from "@queue/core/adapter";
import { migrate } from "@queue/core/migrations";
import { fromKnex, knexDatabase } from "@queue/knex";
import { createWorker } from "@queue/worker";

interface Order {
  readonly id: string;
}
declare const knex: Knex;
declare const open: Knex.Transaction;
declare const typedKnex: Knex<Order, Order[]>;
declare const typedOpen: Knex.Transaction<Order, Order[]>;
const queue = createQueue({ jobs: { note: job<{ n: number }>() } });

test("fromKnex takes every transaction, and no Knex without one", () => {
  expectTypeOf(fromKnex(open)).toEqualTypeOf<Executor>();
  expectTypeOf(fromKnex(typedOpen)).toEqualTypeOf<Executor>();
  // @ts-expect-error a Knex has no transaction that the job could be in
  fromKnex(knex);
  // @ts-expect-error a forgotten await
  fromKnex(knex.transaction());
});

test("transactional handlers get Knex's own transaction", () => {
  createWorker({
    queue,
    db: knexDatabase(knex),
    handlers: { note: { transactional: true, run: async (_job, { trx }) => void expectTypeOf(trx).toEqualTypeOf<Knex.Transaction>() } },
  });
  createWorker({
    queue,
    db: knexDatabase(typedKnex),
    handlers: {
      note: { transactional: true, run: async (_job, { trx }) => void expectTypeOf(trx).toEqualTypeOf<Knex.Transaction<Order, Order[]>>() },
    },
  });
  expectTypeOf(migrate(knexDatabase(knex), queue)).resolves.toHaveProperty("applied");
  expectTypeOf(queue.admin(knexDatabase(knex)).cancel).toBeFunction();
});
