import type { Kysely } from "kysely";
import { PermanentError } from "@queue/core";
import type { Handler } from "@queue/worker";
import type { Database } from "@shop/database";
import type { ShopQueue } from "@shop/jobs";
import type { TextMessageProvider } from "../providers/text-message-provider.js";

/**
 * Asks for a review some time after the order, if it was shipped by then. The provider knows no idempotency keys and charges
 * for each message, so `once` writes the delivery record first; when a worker dies in the middle, nobody is asked twice.
 */
export function askReview(db: Kysely<Database>, textMessages: TextMessageProvider): Handler<ShopQueue, "order.ask-review"> {
  return async ({ payload: { orderId } }, ctx) => {
    const order = await db
      .selectFrom("orders")
      .innerJoin("customers", "customers.id", "orders.customer_id")
      .select(["orders.status", "customers.name", "customers.phone"])
      .where("orders.id", "=", orderId)
      .executeTakeFirst();
    if (order === undefined) throw new PermanentError(`There is no order ${orderId}.`);
    if (order.status !== "shipped") return;
    const text = `Hello ${order.name}, how do you like your order ${orderId}? Reply with 1 to 5 stars.`;
    await ctx.once("text-message", (signal) => textMessages.send({ phone: order.phone, text, reference: orderId }, { signal }), {
      onUnknown: "skip",
    });
  };
}
