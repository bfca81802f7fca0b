import { PGlite } from "@electric-sql/pglite";
import type { TestDatabase } from "@queue/test-database";
import { drizzle as drizzleOnPg } from "drizzle-orm/node-postgres";
import { integer, pgTable, text } from "drizzle-orm/pg-core";
import { drizzle as drizzleOnPglite } from "drizzle-orm/pglite";
import { drizzle as drizzleOnPostgresJs } from "drizzle-orm/postgres-js";
import postgres from "postgres";

export const orders = pgTable("orders", { id: integer("id").primaryKey(), orderNote: text("order_note").notNull() });
const schema = { orders };

/** One `drizzle()`, and its end. */
export interface Session {
  readonly db: ReturnType<typeof onPg>["db"];
  close(): Promise<void>;
}

/** The drivers that Drizzle is tried on; all are typed as the first of them. */
export const sessions: Record<string, (database: TestDatabase) => Promise<Session>> = {
  "node-postgres": async (database) => onPg(database),
  "postgres.js": async (database) => {
    const client = postgres(database.url, { max: 2, onnotice: () => {} });
    return { db: drizzleOnPostgresJs(client, { schema }) as unknown as Session["db"], close: () => client.end() };
  },
  PGlite: async () => {
    const client = await PGlite.create();
    return { db: drizzleOnPglite(client, { schema }) as unknown as Session["db"], close: () => client.close() };
  },
};

function onPg(database: TestDatabase) {
  return { db: drizzleOnPg(database.newPool({ max: 2 }), { schema }), close: async () => {} };
}
