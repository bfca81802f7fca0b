import type { PgTransaction } from "drizzle-orm/pg-core";
import type { NodePgDatabase, NodePgQueryResultHKT, NodePgTransaction } from "drizzle-orm/node-postgres";
import type { PgliteDatabase } from "drizzle-orm/pglite";
import type { PostgresJsDatabase } from "drizzle-orm/postgres-js";
import type { ExtractTablesWithRelations } from "drizzle-orm";
import { expectTypeOf, test } from "vitest";
import { createQueue, job } from "@queue/core";
import type { Executor } from "@queue/core/adapter";
import { drizzleDatabase, type DrizzleTransactionOf, fromDrizzle } from "@queue/drizzle";
import { createWorker } from "@queue/worker";
import { orders } from "./sessions.js";

type Schema = { orders: typeof orders };
declare const db: NodePgDatabase<Schema>;
declare const postgresJsDb: PostgresJsDatabase<Schema>;
declare const pgliteDb: PgliteDatabase;
declare const tx: NodePgTransaction<Schema, ExtractTablesWithRelations<Schema>>;

test("fromDrizzle takes every transaction, and no db", async () => {
  expectTypeOf(fromDrizzle(tx)).toEqualTypeOf<Executor>();
  await db.transaction(async (inner) => fromDrizzle(inner));
  await postgresJsDb.transaction(async (inner) => fromDrizzle(inner));
  await pgliteDb.transaction(async (inner) => fromDrizzle(inner));
  // @ts-expect-error it has no transaction that the job could be in
  fromDrizzle(db);
  // @ts-expect-error a forgotten await
  fromDrizzle(Promise.resolve(tx));
  // @ts-expect-error a worker needs transactions of its own
  drizzleDatabase(tx);
});

test("transactional handlers get the tx of Drizzle, with the caller's schema", () => {
  expectTypeOf<DrizzleTransactionOf<typeof db>>().toEqualTypeOf<
    PgTransaction<NodePgQueryResultHKT, Schema, ExtractTablesWithRelations<Schema>>
  >();
  createWorker({
    queue: createQueue({ jobs: { note: job<string>() } }),
    db: drizzleDatabase(postgresJsDb),
    handlers: {
      note: {
        transactional: true,
        run: async (_job, { trx }) => {
          expectTypeOf(trx).toEqualTypeOf<Parameters<Parameters<typeof postgresJsDb.transaction>[0]>[0]>();
          expectTypeOf(await trx.query.orders.findFirst()).toEqualTypeOf<{ id: number; orderNote: string } | undefined>();
          // @ts-expect-error no such table in the schema
          await trx.query.customers.findFirst();
        },
      },
    },
  });
});
