import { fileURLToPath } from "node:url";
import type { Kysely } from "kysely";
import { runnerImport } from "vite";

type Migrate = (db: Kysely<unknown>, options: { readonly schema: string }) => Promise<unknown>;

const source = fileURLToPath(new URL("../../../packages/core/src/migrations.ts", import.meta.url));

/**
 * `migrate` of @queue/core, from its sources: after a migration has changed, the package does not build until the row types are
 * generated again.
 */
export async function loadMigrate(): Promise<Migrate> {
  const { module } = await runnerImport<{ readonly migrate: Migrate }>(source, { configFile: false, logLevel: "error" });
  return module.migrate;
}
