import { EntitySchema } from "@mikro-orm/core";

export interface Order {
  id: string;
}

/** Without decorators: they need an option of the compiler. */
export const orders = new EntitySchema<Order>({ name: "Order", tableName: "orders", properties: { id: { type: "text", primary: true } } });
