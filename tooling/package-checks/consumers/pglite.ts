import { PGlite } from "@electric-sql/pglite";
import { fromPglite, PgliteDialect, pgliteListener } from "@queue/pglite";
import { Kysely } from "kysely";

export async function first(): Promise<unknown> {
  const pglite = await PGlite.create();
  const db = new Kysely<{ orders: { id: string } }>({ dialect: new PgliteDialect({ pglite }) });
  const listener = pgliteListener(pglite);
  const { rows } = await pglite.transaction((tx) => fromPglite(tx).execute<{ one: number }>({ sql: "select 1 as one", parameters: [] }));
  return [await db.selectFrom("orders").select("id").execute(), listener, rows[0]?.one.toFixed()];
}
