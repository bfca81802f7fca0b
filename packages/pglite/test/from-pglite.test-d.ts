import type { PGlite, PGliteInterface, Transaction } from "@electric-sql/pglite";
import { Kysely } from "kysely";
import type pg from "pg";
import { expectTypeOf, test } from "vitest";
import type { QueueDatabase } from "@queue/core";
import type { Executor, Listener } from "@queue/core/adapter";
import { fromPglite, openPglite, PgliteDialect, pgliteListener } from "@queue/pglite";

declare const pglite: PGlite;
declare const extended: PGliteInterface;
declare const tx: Transaction;
declare const client: pg.Client;

test("fromPglite takes PGlite's transaction and every PGlite, and no client of another library", () => {
  expectTypeOf(fromPglite(tx)).toEqualTypeOf<Executor>();
  expectTypeOf(fromPglite(pglite)).toEqualTypeOf<Executor>();
  expectTypeOf(fromPglite(extended)).toEqualTypeOf<Executor>();
  // @ts-expect-error that is what fromPg is for
  fromPglite(client);
  // @ts-expect-error a forgotten await
  fromPglite(openPglite());
});

test("openPglite is typed by its database", async () => {
  const database = await openPglite<QueueDatabase>({ folder: undefined });
  expectTypeOf(database.db).toEqualTypeOf<Kysely<QueueDatabase>>();
  expectTypeOf(database.listener).toEqualTypeOf<Listener>();
  expectTypeOf(database.pglite).toEqualTypeOf<PGlite>();
  // @ts-expect-error it is called folder
  await openPglite({ dataDir: "./data" });
});

test("the parts take a PGlite with extensions", () => {
  expectTypeOf(new Kysely<QueueDatabase>({ dialect: new PgliteDialect({ pglite }) })).toEqualTypeOf<Kysely<QueueDatabase>>();
  expectTypeOf(pgliteListener(extended)).toEqualTypeOf<Listener>();
});
