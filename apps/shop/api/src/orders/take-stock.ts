import type { Transaction } from "kysely";
import type { Database } from "@shop/database";
import { OrderRefusedError } from "./order-refused-error.js";
import type { OrderRequest } from "./order-request.js";

/** A line of an order, with the price that it was sold at. */
export interface SoldLine {
  readonly productId: number;
  readonly quantity: number;
  readonly priceCents: number;
}

/**
 * Takes the goods of an order from the stock. Products are locked in the order of their ids, so that two orders for the same
 * goods wait for each other, but never both for both.
 *
 * @throws OrderRefusedError `"out-of-stock"` or `"unknown-product"`
 */
export async function takeStock(trx: Transaction<Database>, lines: OrderRequest["lines"]): Promise<SoldLine[]> {
  const sold: SoldLine[] = [];
  for (const { productId, quantity } of mergeLines(lines)) {
    const product = await trx
      .updateTable("products")
      .set((eb) => ({ stock: eb("stock", "-", quantity) }))
      .where("id", "=", productId)
      .where("stock", ">=", quantity)
      .returning("price_cents")
      .executeTakeFirst();
    if (product === undefined) throw await refusal(trx, productId, quantity);
    sold.push({ productId, quantity, priceCents: product.price_cents });
  }
  return sold;
}

/** One line per product, in the order of the ids. */
function mergeLines(lines: OrderRequest["lines"]): OrderRequest["lines"] {
  const quantities = new Map<number, number>();
  for (const { productId, quantity } of lines) quantities.set(productId, (quantities.get(productId) ?? 0) + quantity);
  return [...quantities].map(([productId, quantity]) => ({ productId, quantity })).sort((a, b) => a.productId - b.productId);
}

async function refusal(trx: Transaction<Database>, productId: number, quantity: number): Promise<OrderRefusedError> {
  const product = await trx.selectFrom("products").select(["name", "stock"]).where("id", "=", productId).executeTakeFirst();
  if (product === undefined) return new OrderRefusedError("unknown-product", `There is no product ${productId}.`);
  const left = product.stock === 0 ? "sold out" : `only ${product.stock} left`;
  return new OrderRefusedError("out-of-stock", `${product.name}: ${left}, the order was for ${quantity}.`);
}
