import { Pool } from "@neondatabase/serverless";
import { fromNeon, neonDatabase, neonListener } from "@queue/neon";

const pool = new Pool({ connectionString: "postgres://localhost/shop" });

export const listener = neonListener({ connectionString: "postgres://localhost/shop" });
export const db = neonDatabase(pool);

export async function first(): Promise<unknown> {
  const client = await pool.connect();
  const { rows } = await fromNeon(client).execute<{ one: number }>({ sql: "select 1 as one", parameters: [] });
  client.release();
  return rows[0]?.one.toFixed();
}
