import { createDatabase, dropDatabase, type TestServer } from "@queue/test-database";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { generateRowTypes } from "./generate-row-types.js";
import { loadMigrate } from "./load-migrate.js";

const schema = "queue";

/** The row types of a database that the migrations made a moment ago. */
export async function generateFromMigrations(server: TestServer): Promise<string> {
  const migrate = await loadMigrate();
  const { name, url } = await createDatabase(server, { label: "codegen" });
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 2 }) }) });
  try {
    await migrate(db, { schema });
    return await generateRowTypes(db, schema);
  } finally {
    await db.destroy();
    await dropDatabase(server, name);
  }
}
