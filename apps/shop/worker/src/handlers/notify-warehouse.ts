import { type Kysely, sql } from "kysely";
import { PermanentError } from "@queue/core";
import type { TransactionalHandler } from "@queue/worker";
import type { Database } from "@shop/database";
import type { ShopQueue } from "@shop/jobs";

/**
 * Marks an order shipped. The update and the completion of the job are one transaction: there is no moment in which one is
 * there without the other, and no second shipment when the process dies in between.
 */
export const notifyWarehouse: TransactionalHandler<ShopQueue, "order.notify-warehouse", Kysely<Database>> = {
  transactional: true,
  run: async ({ payload: { orderId } }, { trx }) => {
    const order = await trx
      .updateTable("orders")
      .set({ status: "shipped", shipped_at: sql<Date>`clock_timestamp()` })
      .from("customers")
      .innerJoin("depots", "depots.name", "customers.depot")
      .whereRef("customers.id", "=", "orders.customer_id")
      .where("orders.id", "=", orderId)
      .returning(["depots.name as depot", "depots.is_open"])
      .executeTakeFirst();
    if (order === undefined) throw new PermanentError(`There is no order ${orderId}.`);
    // The throw takes the update back with it: nothing is shipped from a closed depot.
    if (!order.is_open) throw new Error(`The depot ${order.depot} does not answer.`);
  },
};
