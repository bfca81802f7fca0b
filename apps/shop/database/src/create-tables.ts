import { sql, type Transaction } from "kysely";
import type { Database } from "./shop-database.js";

/** The shop's tables, where they are missing. */
export async function createTables(trx: Transaction<Database>): Promise<void> {
  await createPeopleAndGoods(trx);
  await createOrders(trx);
  await createMessages(trx);
}

async function createPeopleAndGoods(trx: Transaction<Database>): Promise<void> {
  await trx.schema
    .createTable("depots")
    .ifNotExists()
    .addColumn("name", "text", (column) => column.primaryKey())
    .addColumn("is_open", "boolean", (column) => column.notNull())
    .execute();
  await trx.schema
    .createTable("customers")
    .ifNotExists()
    .addColumn("id", "integer", (column) => column.primaryKey())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("email", "text", (column) => column.notNull())
    .addColumn("phone", "text", (column) => column.notNull())
    .addColumn("depot", "text", (column) => column.notNull().references("depots.name"))
    .execute();
  await trx.schema
    .createTable("products")
    .ifNotExists()
    .addColumn("id", "integer", (column) => column.primaryKey())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("price_cents", "integer", (column) => column.notNull().check(sql`price_cents >= 0`))
    .addColumn("stock", "integer", (column) => column.notNull().check(sql`stock >= 0`))
    .execute();
}

async function createOrders(trx: Transaction<Database>): Promise<void> {
  await sql`create sequence if not exists order_numbers start 1001`.execute(trx);
  await trx.schema
    .createTable("orders")
    .ifNotExists()
    .addColumn("id", "text", (column) => column.primaryKey().defaultTo(sql`'S-' || nextval('order_numbers')`))
    .addColumn("customer_id", "integer", (column) => column.notNull().references("customers.id"))
    .addColumn("status", "text", (column) =>
      column
        .notNull()
        .defaultTo("placed")
        .check(sql`status in ('placed', 'shipped')`),
    )
    .addColumn("total_cents", "integer", (column) => column.notNull())
    .addColumn("placed_at", "timestamptz", (column) => column.notNull().defaultTo(sql`now()`))
    .addColumn("shipped_at", "timestamptz")
    .execute();
  await trx.schema.createIndex("orders_placed_at").ifNotExists().on("orders").columns(["placed_at", "id"]).execute();
  await trx.schema
    .createTable("order_lines")
    .ifNotExists()
    .addColumn("order_id", "text", (column) => column.notNull().references("orders.id").onDelete("cascade"))
    .addColumn("product_id", "integer", (column) => column.notNull().references("products.id"))
    .addColumn("quantity", "integer", (column) => column.notNull().check(sql`quantity > 0`))
    .addColumn("price_cents", "integer", (column) => column.notNull())
    .addPrimaryKeyConstraint("order_lines_pkey", ["order_id", "product_id"])
    .execute();
}

async function createMessages(trx: Transaction<Database>): Promise<void> {
  await trx.schema
    .createTable("mails")
    .ifNotExists()
    .addColumn("idempotency_key", "text", (column) => column.primaryKey())
    .addColumn("reference", "text", (column) => column.notNull())
    .addColumn("recipient", "text", (column) => column.notNull())
    .addColumn("subject", "text", (column) => column.notNull())
    .addColumn("text", "text", (column) => column.notNull())
    .addColumn("sent_at", "timestamptz", (column) => column.notNull().defaultTo(sql`now()`))
    .execute();
  await trx.schema
    .createTable("mail_requests")
    .ifNotExists()
    .addColumn("idempotency_key", "text", (column) => column.primaryKey())
    .addColumn("requests", "integer", (column) => column.notNull())
    .execute();
  await trx.schema
    .createTable("text_messages")
    .ifNotExists()
    .addColumn("id", "integer", (column) => column.primaryKey().generatedAlwaysAsIdentity())
    .addColumn("reference", "text", (column) => column.notNull())
    .addColumn("phone", "text", (column) => column.notNull())
    .addColumn("text", "text", (column) => column.notNull())
    .addColumn("sent_at", "timestamptz", (column) => column.notNull().defaultTo(sql`now()`))
    .execute();
}
