import { EntitySchema } from "typeorm";

export interface Order {
  readonly id: string;
}

/** Without decorators: they need an option of the compiler. */
export const orders = new EntitySchema<Order>({ name: "Order", tableName: "orders", columns: { id: { type: "text", primary: true } } });
