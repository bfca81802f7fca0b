import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { createTemplate, dropDatabase, startTestServer } from "@queue/test-database";
import { migrate } from "../../packages/core/src/migrations.js";

/** Once for a test run: a server, and a migrated database that every test file clones. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const server = await startTestServer();
  try {
    const migratedTemplate = await createTemplate(server, migrateDatabase);
    const pooler = server.pooler && { url: server.pooler.url };
    project.provide("testServer", { url: server.url, version: server.version, migratedTemplate, pooler });
    return async () => {
      await dropDatabase(server, migratedTemplate);
      await server.stop();
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function migrateDatabase(url: string): Promise<void> {
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 1 }) }) });
  try {
    await migrate(db);
  } finally {
    await db.destroy();
  }
}
