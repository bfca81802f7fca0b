import { createWorker, type DatabaseTarget, type Handlers, type TransactionalHandler, type TransactionOf } from "@queue/worker";
import type { ControlledTransaction, Kysely } from "kysely";
import type { Kysely as Kysely0285, Transaction as Transaction0285 } from "kysely-028-5";
import type { Kysely as Kysely029, Transaction as Transaction029 } from "kysely-029";
import type { ReadonlyKysely } from "kysely-029/readonly";
import type pg from "pg";
import { expectTypeOf, test } from "vitest";
import { db, queue, type ShopDatabase, trx as transaction } from "./shop-queue.js";

declare const db029: Kysely029<ShopDatabase>;
declare const trx029: Transaction029<ShopDatabase>;
declare const db0285: Kysely0285<ShopDatabase>;
declare const trx0285: Transaction0285<ShopDatabase>;
declare const controlled: ControlledTransaction<ShopDatabase>;

test("the caller's own copy of Kysely decides the type of trx", () => {
  createWorker({
    queue,
    db: db029,
    handlers: {
      "search.reindex": {
        transactional: true,
        run: async (_job, { trx }) => void expectTypeOf(trx).toEqualTypeOf<Transaction029<ShopDatabase>>(),
      },
    },
  });
  createWorker({
    queue,
    db: db0285,
    handlers: {
      "search.reindex": {
        transactional: true,
        run: async (_job, { trx }) => void expectTypeOf(trx).toEqualTypeOf<Transaction0285<ShopDatabase>>(),
      },
    },
  });
  expectTypeOf<TransactionOf<typeof db029>>().toEqualTypeOf<Transaction029<ShopDatabase>>();
  expectTypeOf<TransactionOf<typeof db0285>>().toEqualTypeOf<Transaction0285<ShopDatabase>>();
  expectTypeOf<TransactionOf<typeof db>>().toEqualTypeOf<typeof transaction>();
});

test("handlers in files of their own follow it, too", () => {
  const reindex: TransactionalHandler<typeof queue, "search.reindex", typeof db029> = {
    transactional: true,
    run: async (_job, { trx }) => void expectTypeOf(trx).toEqualTypeOf<Transaction029<ShopDatabase>>(),
  };
  const handlers = { "search.reindex": reindex } satisfies Handlers<typeof queue, typeof db029>;
  createWorker({ queue, db: db029, handlers });
  // @ts-expect-error written for another copy of Kysely
  createWorker({ queue, db: db0285, handlers });
});

test("queue.enqueue takes the trx of a handler, of every copy", () => {
  createWorker({
    queue,
    db: db0285,
    handlers: {
      "search.reindex": { transactional: true, run: async (_job, { trx }) => void (await queue.enqueue(trx, "night.cleanup", null)) },
    },
  });
});

test("a Transaction of any copy is refused, and so is what cannot write", () => {
  // @ts-expect-error db must be a Kysely, not a Transaction
  createWorker({ queue, db: transaction, handlers: {} });
  // @ts-expect-error nor of 0.29
  createWorker({ queue, db: trx029, handlers: {} });
  // @ts-expect-error nor of another copy
  createWorker({ queue, db: trx0285, handlers: {} });
  // @ts-expect-error nor a controlled one
  createWorker({ queue, db: controlled, handlers: {} });
  const readonlyDb = {} as ReadonlyKysely<ShopDatabase>;
  // @ts-expect-error a read-only Kysely (0.29) cannot work
  createWorker({ queue, db: readonlyDb, handlers: {} });
  const pool = {} as pg.Pool;
  // @ts-expect-error a pool is no Kysely
  createWorker({ queue, db: pool, handlers: {} });
});

test("any Kysely fits the shape", () => {
  expectTypeOf<Kysely<ShopDatabase>>().toExtend<DatabaseTarget>();
  expectTypeOf<Kysely029<ShopDatabase>>().toExtend<DatabaseTarget>();
  expectTypeOf<Kysely0285<ShopDatabase>>().toExtend<DatabaseTarget>();
  createWorker({ queue, db: db.withSchema("tenant"), handlers: {} });
});
