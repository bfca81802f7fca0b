import { fromPg, pgListener } from "@queue/pg";
import pg from "pg";

export const listener = pgListener({ connectionString: "postgres://localhost/shop" });

export async function first(): Promise<unknown> {
  const client = new pg.Client();
  await client.connect();
  const { rows } = await fromPg(client).execute<{ one: number }>({ sql: "select 1 as one", parameters: [] });
  // @ts-expect-error a pool has no transaction
  fromPg(new pg.Pool());
  return rows[0]?.one.toFixed();
}
