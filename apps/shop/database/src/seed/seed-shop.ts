import type { Transaction } from "kysely";
import type { Database } from "../shop-database.js";
import { customers } from "./customers.js";
import { depots } from "./depots.js";
import { products } from "./products.js";

/** Inserts what is missing of the seed data. What is there stays as it is: stock that was sold does not come back. */
export async function seedShop(trx: Transaction<Database>): Promise<void> {
  await trx
    .insertInto("depots")
    .values(depots.map(({ name, isOpen }) => ({ name, is_open: isOpen })))
    .onConflict((conflict) => conflict.column("name").doNothing())
    .execute();
  await trx
    .insertInto("customers")
    .values([...customers])
    .onConflict((conflict) => conflict.column("id").doNothing())
    .execute();
  await trx
    .insertInto("products")
    .values(products.map(({ id, name, priceCents, stock }) => ({ id, name, price_cents: priceCents, stock })))
    .onConflict((conflict) => conflict.column("id").doNothing())
    .execute();
}
