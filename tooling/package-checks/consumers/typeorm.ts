import { fromTypeorm, typeormDatabase } from "@queue/typeorm";
import type { DataSource } from "typeorm";

export function first(dataSource: DataSource): Promise<unknown> {
  const db = typeormDatabase(dataSource);
  return dataSource.transaction(async (manager) => {
    const { rows } = await fromTypeorm(manager).execute<{ one: number }>({ sql: "select 1 as one", parameters: [] });
    return [db.adapter, rows[0]?.one.toFixed()];
  });
}
