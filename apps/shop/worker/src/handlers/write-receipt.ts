import type { Kysely } from "kysely";
import { PermanentError } from "@queue/core";
import { type Database, formatEuros } from "@shop/database";

/** The receipt of an order as a mail. @throws PermanentError when there is no such order */
export async function writeReceipt(db: Kysely<Database>, orderId: string): Promise<{ subject: string; text: string }> {
  const order = await db
    .selectFrom("orders")
    .innerJoin("customers", "customers.id", "orders.customer_id")
    .select(["orders.total_cents", "customers.name"])
    .where("orders.id", "=", orderId)
    .executeTakeFirst();
  if (order === undefined) throw new PermanentError(`There is no order ${orderId}.`);
  const lines = await db
    .selectFrom("order_lines")
    .innerJoin("products", "products.id", "order_lines.product_id")
    .select(["products.name", "order_lines.quantity", "order_lines.price_cents"])
    .where("order_lines.order_id", "=", orderId)
    .orderBy("products.id")
    .execute();
  return {
    subject: `Your order ${orderId}`,
    text: [
      `Dear ${order.name},`,
      `thank you for your order ${orderId}:`,
      ...lines.map(({ name, quantity, price_cents }) => `${quantity} × ${name}  ${formatEuros(quantity * price_cents)}`),
      `Total  ${formatEuros(order.total_cents)}`,
    ].join("\n"),
  };
}
