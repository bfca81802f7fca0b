import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import type { StoreDatabase } from "./store-database.js";

/** A Kysely that builds and compiles, and never connects. Every table is in `schema`. */
export function queryBuilder(schema: string): Kysely<StoreDatabase> {
  const db = new Kysely<StoreDatabase>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (kysely) => new PostgresIntrospector(kysely),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  return db.withSchema(schema);
}
