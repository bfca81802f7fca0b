import type { ColumnType, Generated, GeneratedAlways } from "kysely";
import type { QueueDatabase } from "@queue/core";

/** Set by the database when the row is written. */
type WrittenAt = ColumnType<Date, never, never>;

export type OrderStatus = "placed" | "shipped";

export interface DepotTable {
  name: string;
  is_open: boolean;
}

export interface CustomerTable {
  id: number;
  name: string;
  email: string;
  phone: string;
  /** The depot that ships to the customer. */
  depot: string;
}

export interface ProductTable {
  id: number;
  name: string;
  price_cents: number;
  stock: number;
}

export interface OrderTable {
  /** `S-1001`: what a customer says on the phone, and the idempotency key of the order's jobs. */
  id: Generated<string>;
  customer_id: number;
  status: ColumnType<OrderStatus, OrderStatus | undefined, OrderStatus>;
  total_cents: number;
  placed_at: WrittenAt;
  shipped_at: ColumnType<Date | null, never, Date>;
}

export interface OrderLineTable {
  order_id: string;
  product_id: number;
  quantity: number;
  /** The price of one, on the day. */
  price_cents: number;
}

/** What the mail provider has sent: one row per mail that left the house. */
export interface MailTable {
  idempotency_key: string;
  /** The number of the order, which the provider prints on its invoice. */
  reference: string;
  recipient: string;
  subject: string;
  text: string;
  sent_at: WrittenAt;
}

/** How often the mail provider was asked, also in vain. */
export interface MailRequestTable {
  idempotency_key: string;
  requests: number;
}

/** What the text message provider has sent. It knows no keys: asked twice, it sends twice. */
export interface TextMessageTable {
  id: GeneratedAlways<number>;
  /** The number of the order, which the provider prints on its invoice. */
  reference: string;
  phone: string;
  text: string;
  sent_at: WrittenAt;
}

export interface ShopDatabase {
  depots: DepotTable;
  customers: CustomerTable;
  products: ProductTable;
  orders: OrderTable;
  order_lines: OrderLineTable;
  mails: MailTable;
  mail_requests: MailRequestTable;
  text_messages: TextMessageTable;
}

/** The shop's tables and the queue's, so that one query joins orders to their jobs. */
export type Database = ShopDatabase & QueueDatabase;
