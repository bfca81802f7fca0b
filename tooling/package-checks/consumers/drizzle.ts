import { drizzleDatabase, fromDrizzle } from "@queue/drizzle";
import { drizzle } from "drizzle-orm/node-postgres";

export function first(orders: ReturnType<typeof drizzle>): Promise<unknown> {
  const db = drizzleDatabase(orders);
  return orders.transaction(async (tx) => {
    const { rows } = await fromDrizzle(tx).execute<{ one: number }>({ sql: "select 1 as one", parameters: [] });
    return [db.adapter, rows[0]?.one.toFixed()];
  });
}
