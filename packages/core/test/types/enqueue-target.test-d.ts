import type { EnqueueTarget, Executor, KyselyLike } from "@queue/core";
import type { Executor as AdapterExecutor } from "@queue/core/adapter";
import { migrate } from "@queue/core/migrations";
import type { ControlledTransaction, Kysely, Transaction } from "kysely";
import type { Kysely as Kysely0285, Transaction as Transaction0285 } from "kysely-028-5";
import type { ControlledTransaction as ControlledTransaction029, Kysely as Kysely029, Transaction as Transaction029 } from "kysely-029";
import type { ReadonlyKysely } from "kysely-029/readonly";
import type pg from "pg";
import { expectTypeOf, test } from "vitest";
import { db, type ShopDatabase, shopQueue, trx } from "./shop-queue.js";

declare const controlled: ControlledTransaction<ShopDatabase, ["a"]>;
declare const db029: Kysely029<ShopDatabase>;
declare const trx029: Transaction029<ShopDatabase>;
declare const controlled029: ControlledTransaction029<ShopDatabase>;
declare const db0285: Kysely0285<ShopDatabase>;
declare const trx0285: Transaction0285<ShopDatabase>;
declare const executor: Executor;

const reindex = ["search.reindex", { productId: "p1" }] as const;

test("every copy and version of Kysely fits, and every class of it", () => {
  void shopQueue.enqueue(db, ...reindex);
  void shopQueue.enqueue(trx, ...reindex);
  void shopQueue.enqueue(controlled, ...reindex);
  void shopQueue.enqueue(db029, ...reindex);
  void shopQueue.enqueue(trx029, ...reindex);
  void shopQueue.enqueue(controlled029, ...reindex);
  void shopQueue.enqueue(db0285, ...reindex);
  void shopQueue.enqueue(trx0285, ...reindex);
  void shopQueue.enqueue(db.withSchema("tenant"), ...reindex);
  void shopQueue.enqueueMany(trx0285, []);
  shopQueue.admin(trx029);
});

test("what an adapter makes of another library's transaction fits", () => {
  void shopQueue.enqueue(executor, ...reindex);
  shopQueue.admin(executor);
  expectTypeOf<Executor>().toEqualTypeOf<AdapterExecutor>();
  expectTypeOf<EnqueueTarget>().toEqualTypeOf<KyselyLike | Executor>();
  void shopQueue.enqueue({ adapter: "own", execute: async <R>() => ({ rows: [] as R[] }) }, ...reindex);
});

test("drivers, promises, read-only instances and strangers with an execute() do not", () => {
  const pool = {} as pg.Pool;
  // @ts-expect-error 'Pool' is not assignable to parameter of type 'EnqueueTarget'
  void shopQueue.enqueue(pool, ...reindex);
  const client = {} as pg.PoolClient;
  // @ts-expect-error 'PoolClient' is not assignable to parameter of type 'EnqueueTarget'
  void shopQueue.enqueue(client, ...reindex);
  // @ts-expect-error a forgotten await
  void shopQueue.enqueue(Promise.resolve(trx), ...reindex);
  const readonlyDb = {} as ReadonlyKysely<ShopDatabase>;
  // @ts-expect-error a read-only Kysely (0.29) cannot enqueue
  void shopQueue.enqueue(readonlyDb, ...reindex);
  const stranger = {} as { execute(query: string | object, parameters?: unknown[]): Promise<{ rows: never[] }> };
  // @ts-expect-error Property 'adapter' is missing: it goes through its adapter
  void shopQueue.enqueue(stranger, ...reindex);
  // @ts-expect-error nothing at all
  void shopQueue.enqueue(undefined, ...reindex);
});

test("taking Kysely by shape is needed: neither its own type nor the port would do", () => {
  const nominal = (first: Kysely<ShopDatabase> | Transaction<ShopDatabase>) => first;
  // @ts-expect-error '#private' refers to a different member in the other copy
  nominal(db0285);
  const port = (first: Executor) => first;
  // @ts-expect-error Kysely has no execute()
  port(db);
});

test("migrate takes a Kysely of any copy, what an adapter makes of a transaction, and the queue or its schema's name", () => {
  void migrate(db);
  void migrate(db, shopQueue);
  void migrate(trx, { schema: "background" });
  void migrate(db029, { schema: undefined });
  void migrate(db0285, shopQueue);
  expectTypeOf(migrate(db)).resolves.toEqualTypeOf<{ readonly schema: string; readonly applied: readonly string[] }>();
  void migrate(executor);
  // @ts-expect-error no such option
  void migrate(db, { shema: "background" });
});
