import { type Kysely, sql } from "kysely";
import { migrate } from "@queue/core/migrations";
import { queue } from "@shop/jobs";
import { createTables } from "./create-tables.js";
import { seedShop } from "./seed/seed-shop.js";
import type { Database } from "./shop-database.js";

/**
 * Creates what is missing: the shop's tables, its seed data, and the queue. Each api and each worker calls it at its start, at
 * the same moment as the others, so all of it is one transaction behind one lock: the first does the work, the rest find it
 * done. (`create table if not exists` alone would not do: two sessions at once both see no table, and one of them fails.)
 *
 * A shop that has data of its own keeps it: seeds are only inserted, never updated.
 */
export async function createShopSchema(db: Kysely<Database>): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`select 1 from pg_advisory_xact_lock(hashtextextended('shop schema', 0))`.execute(trx);
    await createTables(trx);
    await seedShop(trx);
    await migrate(trx, queue);
  });
}
