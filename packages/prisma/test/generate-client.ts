import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** Inside the repository, so that the client finds its runtime. */
const cache = fileURLToPath(new URL("../../../node_modules/.cache/", import.meta.url));

const schema = `generator client {
  provider = "prisma-client"
  output   = "./generated/prisma"
}
datasource db {
  provider = "postgresql"
}
model Order {
  id       String   @id
  status   String
  placedAt DateTime @default(now()) @map("placed_at")
  @@map("orders")
}
`;

/** A folder with a client in `generated/prisma`, for {@link schema}; `remove()` deletes it. */
export interface GeneratedClient {
  readonly folder: string;
  /** The module that exports `PrismaClient`. */
  readonly file: string;
  remove(): Promise<void>;
}

/**
 * Generates a client, into a folder of its own or into that of `options`. Nothing is fetched: the schema engine, which Prisma
 * would look for, is not needed for it.
 */
export async function generateClient(options: { readonly folder?: string } = {}): Promise<GeneratedClient> {
  await mkdir(cache, { recursive: true });
  const folder = options.folder ?? (await mkdtemp(join(cache, "prisma-client-")));
  await writeFile(join(folder, "schema.prisma"), schema);
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  const prisma = join(dirname(createRequire(import.meta.url).resolve("prisma/package.json")), "build/index.js");
  await promisify(execFile)(process.execPath, [prisma, "generate", "--schema", "schema.prisma"], {
    cwd: folder,
    env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: "1" },
  });
  return { folder, file: join(folder, "generated/prisma/client.ts"), remove: () => rm(folder, { recursive: true, force: true }) };
}
