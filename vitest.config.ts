import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const root = fileURLToPath(new URL(".", import.meta.url));
/** `KYSELY=0.29 npm test` runs everything on the other supported version of kysely. */
const onKysely029 = process.env["KYSELY"] === "0.29";

export default defineConfig({
  resolve: {
    alias: [
      // Tests read sources, of the shop as of the packages, so that a change needs no build before it is tested.
      {
        find: /^@queue\/(core|worker|pg|pglite|postgres-js|drizzle|prisma|knex|typeorm|mikro-orm|neon|testing|cli)$/,
        replacement: `${root}packages/$1/src/index.ts`,
      },
      {
        find: /^@queue\/(core|worker|pg|pglite|postgres-js|drizzle|prisma|knex|typeorm|mikro-orm|neon|testing|cli)\/([a-z-]+)$/,
        replacement: `${root}packages/$1/src/$2.ts`,
      },
      { find: /^@queue\/test-database$/, replacement: `${root}tooling/test-database/src/index.ts` },
      { find: /^@shop\/([a-z]+)$/, replacement: `${root}apps/shop/$1/src/index.ts` },
      ...(onKysely029 ? [{ find: /^kysely(\/.*)?$/, replacement: "kysely-029$1" }] : []),
    ],
  },
  test: {
    include: ["{packages,apps,tests,tooling}/**/{src,test}/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**"],
    globalSetup: ["./tests/setup/global-setup.ts"],
    // Most of the time a test waits for the database or for a due time; one worker a core, and not one fewer.
    maxWorkers: Math.max(2, availableParallelism()),
    testTimeout: 30_000,
    hookTimeout: 30_000,
    typecheck: {
      enabled: true,
      include: ["{packages,apps,tests}/**/*.test-d.ts"],
      checker: `${root}node_modules/typescript-7/bin/tsc`,
      tsconfig: onKysely029 ? "./tsconfig.tests.kysely-029.json" : "./tsconfig.tests.json",
    },
  },
});
