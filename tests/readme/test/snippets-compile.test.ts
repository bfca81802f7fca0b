import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { generateClient } from "../../../packages/prisma/test/generate-client.js";
import { firstSnippet } from "./first-snippet.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const readmes = [
  "README.md",
  "packages/core/README.md",
  "packages/worker/README.md",
  "packages/pg/README.md",
  "packages/postgres-js/README.md",
  "packages/drizzle/README.md",
  "packages/neon/README.md",
  "packages/pglite/README.md",
  "packages/knex/README.md",
  "packages/typeorm/README.md",
  "packages/mikro-orm/README.md",
  "packages/prisma/README.md",
];

/** What the application around a snippet has. */
const application = `import type { Generated, Kysely as Builder } from "kysely";
declare global {
  const db: Builder<{ orders: { id: Generated<string>; email: string } }>;
  const email: string;
  const mail: { send(message: { orderId: string; email: string }, options: { idempotencyKey: string; signal: AbortSignal }): Promise<void> };
}
`;
/** The module that the worker's snippet imports. */
const queueModule = `import { createQueue, job } from "@queue/core";
import type { Kysely } from "kysely";
export const queue = createQueue({
  jobs: { "order.send-receipt": job<{ orderId: string }>(), "order.ship": job<{ orderId: string }>(), "report.poll": job() },
});
export declare const db: Kysely<{ orders: { id: string; shipped: boolean } }>;
`;

// Inside the repository, so that packages resolve as they do for its own code.
const parent = join(root, "node_modules/.cache");
let folder: string;
beforeAll(async () => {
  await mkdir(parent, { recursive: true });
  folder = await mkdtemp(join(parent, "readme-snippets-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it("the first snippet of every README compiles under the strictest settings", async () => {
  await writeFile(join(folder, "application.d.ts"), application);
  await writeFile(join(folder, "queue.ts"), queueModule);
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await generateClient({ folder });
  await Promise.all(
    readmes.map(async (readme) => writeFile(join(folder, `${readme.replaceAll(/[./]/g, "-")}.ts`), await firstSnippet(readme))),
  );
  const config = {
    extends: join(root, "tsconfig.tests.json"),
    compilerOptions: { tsBuildInfoFile: join(folder, ".tsbuildinfo") },
    include: ["*.ts"],
    exclude: [],
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
  const compiler = join(root, "node_modules/typescript-7/bin/tsc");
  const output = await promisify(execFile)(process.execPath, [compiler, "-p", folder]).then(
    () => "",
    (error: { stdout: string }) => error.stdout,
  );
  expect(output).toBe("");
});
