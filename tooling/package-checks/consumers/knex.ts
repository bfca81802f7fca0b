import { fromKnex, knexDatabase } from "@queue/knex";
import type { Knex } from "knex";

export function first(knex: Knex): Promise<unknown> {
  const db = knexDatabase(knex);
  return knex.transaction(async (trx) => {
    const { rows } = await fromKnex(trx).execute<{ one: number }>({ sql: "select 1 as one", parameters: [] });
    return [db.adapter, rows[0]?.one.toFixed()];
  });
}
