import { fromPostgresJs, postgresJsDatabase, postgresJsListener } from "@queue/postgres-js";
import postgres from "postgres";

const sql = postgres("postgres://localhost/shop");

export const listener = postgresJsListener("postgres://localhost/shop");
export const db = postgresJsDatabase(sql);

export function first(): Promise<unknown> {
  return sql.begin(async (tx) => {
    const { rows } = await fromPostgresJs(tx).execute<{ one: number }>({ sql: "select 1 as one", parameters: [] });
    return rows[0]?.one.toFixed();
  });
}
