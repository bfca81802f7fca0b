import type pg from "pg";
import { steadyMs } from "./clock.js";

/** `begin`, the work, `commit` on one connection; the moment before the commit was sent. */
export async function inTransaction(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<unknown>): Promise<number> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    await work(client);
    const at = steadyMs();
    await client.query("commit");
    return at;
  } finally {
    client.release();
  }
}
