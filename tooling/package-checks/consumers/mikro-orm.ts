import { fromMikroOrm, mikroOrmDatabase } from "@queue/mikro-orm";
import type { MikroORM } from "@mikro-orm/core";

export function first(orm: MikroORM): Promise<unknown> {
  const db = mikroOrmDatabase(orm);
  return orm.em.transactional(async (em) => {
    const { rows } = await fromMikroOrm(em).execute<{ one: number }>({ sql: "select 1 as one", parameters: [] });
    return [db.adapter, rows[0]?.one.toFixed()];
  });
}
