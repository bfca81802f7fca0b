import type { Kysely } from "kysely";
import type { Duration } from "@queue/core";
import type { Database } from "@shop/database";
import type { ShopQueue } from "@shop/jobs";
import { OrderRefusedError } from "./order-refused-error.js";
import type { OrderRequest } from "./order-request.js";
import { takeStock } from "./take-stock.js";

export interface PlaceOrderOptions {
  readonly db: Kysely<Database>;
  readonly queue: ShopQueue;
  /** How long after the order the customer is asked for a review. */
  readonly reviewDelay: Duration;
}

export interface PlacedOrder {
  readonly orderId: string;
  readonly totalCents: number;
  readonly jobIds: readonly string[];
}

/**
 * Takes an order: the stock, the order, its lines and its three jobs, in one transaction. Either all of it is there afterwards
 * or nothing: no order whose receipt was forgotten, no receipt for an order that was refused.
 *
 * The jobs have the order's number as their key, so that whatever else enqueues them for this order enqueues nothing.
 *
 * @throws OrderRefusedError and leaves nothing behind
 */
export async function placeOrder(request: OrderRequest, { db, queue, reviewDelay }: PlaceOrderOptions): Promise<PlacedOrder> {
  return db.transaction().execute(async (trx) => {
    const customer = await trx.selectFrom("customers").select("email").where("id", "=", request.customerId).executeTakeFirst();
    if (customer === undefined) throw new OrderRefusedError("unknown-customer", `There is no customer ${request.customerId}.`);

    const lines = await takeStock(trx, request.lines);
    const totalCents = lines.reduce((total, { quantity, priceCents }) => total + quantity * priceCents, 0);
    const { id: orderId } = await trx
      .insertInto("orders")
      .values({ customer_id: request.customerId, total_cents: totalCents })
      .returning("id")
      .executeTakeFirstOrThrow();
    await trx
      .insertInto("order_lines")
      .values(
        lines.map(({ productId, quantity, priceCents }) => ({
          order_id: orderId,
          product_id: productId,
          quantity,
          price_cents: priceCents,
        })),
      )
      .execute();

    const results = await queue.enqueueMany(trx, [
      { kind: "order.send-receipt", payload: { orderId, email: customer.email }, options: { key: orderId } },
      { kind: "order.notify-warehouse", payload: { orderId }, options: { key: orderId } },
      { kind: "order.ask-review", payload: { orderId }, options: { key: orderId, delay: reviewDelay } },
    ]);
    return { orderId, totalCents, jobIds: results.map((result) => result.id) };
  });
}
