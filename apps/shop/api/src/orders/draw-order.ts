import { customers, products } from "@shop/database";
import type { OrderRequest } from "./order-request.js";

/** An order as a stranger might place it: one of the seed customers, one to three products, rarely many of one. */
export function drawOrder(random: () => number = Math.random): OrderRequest {
  const count = 1 + Math.floor(random() * random() * 3);
  const chosen = new Set(Array.from({ length: count }, () => draw(products, random).id));
  return {
    customerId: draw(customers, random).id,
    lines: [...chosen].map((productId) => ({ productId, quantity: 1 + Math.floor(random() * random() * 3) })),
  };
}

function draw<T>(items: readonly T[], random: () => number): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new RangeError("There is nothing to draw from.");
  return item;
}
