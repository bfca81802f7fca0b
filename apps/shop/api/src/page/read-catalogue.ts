import type { Kysely } from "kysely";
import type { Database } from "@shop/database";

/** What the order form offers, and which depots there are. */
export interface Catalogue {
  readonly customers: readonly { readonly id: number; readonly name: string }[];
  readonly products: readonly { readonly id: number; readonly name: string; readonly priceCents: number; readonly stock: number }[];
  readonly depots: readonly { readonly name: string; readonly isOpen: boolean }[];
}

export async function readCatalogue(db: Kysely<Database>): Promise<Catalogue> {
  return {
    customers: await db.selectFrom("customers").select(["id", "name"]).orderBy("id").execute(),
    products: await db.selectFrom("products").select(["id", "name", "price_cents as priceCents", "stock"]).orderBy("id").execute(),
    depots: await db.selectFrom("depots").select(["name", "is_open as isOpen"]).orderBy("name").execute(),
  };
}
