import { Kysely, PostgresDialect } from "kysely";
import { expect, test } from "vitest";
import { useTestDatabase } from "@queue/test-database";
import { queue } from "@shop/jobs";
import { createShopSchema } from "../src/create-shop-schema.js";
import { openShopDatabase } from "../src/open-shop-database.js";
import { products, scarceProduct } from "../src/seed/products.js";
import type { Database } from "../src/shop-database.js";

const database = useTestDatabase({ template: "empty" });
const open = () => new Kysely<Database>({ dialect: new PostgresDialect({ pool: database.newPool({ max: 1 }) }) });

test("ten processes that start at once make one shop, without an error", async () => {
  const processes = Array.from({ length: 10 }, open);

  await Promise.all(processes.map((db) => createShopSchema(db)));

  const db = open();
  expect(await db.selectFrom("products").select("id").execute()).toHaveLength(products.length);
  expect((await queue.admin(db).health()).lanes).toEqual([]);
});

test("a shop that has data keeps it: what was sold does not come back", async () => {
  const db = open();
  await createShopSchema(db);
  await db.updateTable("products").set({ stock: 1 }).where("id", "=", scarceProduct.id).execute();

  await createShopSchema(db);

  const { stock } = await db.selectFrom("products").select("stock").where("id", "=", scarceProduct.id).executeTakeFirstOrThrow();
  expect(stock).toBe(1);
});

test("without a server the shop has a database inside the process, with the same types", async () => {
  const { db, isEmbedded, close } = await openShopDatabase();
  try {
    await createShopSchema(db);
    await createShopSchema(db);

    const order = await db.insertInto("orders").values({ customer_id: 1, total_cents: 1_190 }).returningAll().executeTakeFirstOrThrow();

    expect(isEmbedded).toBe(true);
    expect(order).toEqual({
      id: "S-1001",
      customer_id: 1,
      status: "placed",
      total_cents: 1_190,
      placed_at: expect.any(Date),
      shipped_at: null,
    });
  } finally {
    await close();
  }
});

test("losing an idle connection is told, and does not end the process", async () => {
  const errors: Error[] = [];
  const { db, close } = await openShopDatabase({ url: database.url, application: "loses", onError: (error) => errors.push(error) });
  try {
    await db.selectFrom("products").select("id").execute();

    await database.pool.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'loses'");

    await expect.poll(() => errors.length, { timeout: 15_000 }).toBe(1);
    expect(await db.selectFrom("products").select("id").execute()).toHaveLength(products.length);
  } finally {
    await close();
  }
});
