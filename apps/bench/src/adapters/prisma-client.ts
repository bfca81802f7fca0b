import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { PrismaPg } from "@prisma/adapter-pg";
import type { PrismaDatabase, PrismaTransaction } from "@queue/prisma";

interface Client extends PrismaDatabase<PrismaTransaction> {
  $disconnect(): Promise<void>;
}

/** Inside the repository, so that the client finds its runtime. */
const cache = fileURLToPath(new URL("../../../../node_modules/.cache/", import.meta.url));

const schema = `generator client {
  provider = "prisma-client-js"
  output   = "./client"
}
datasource db {
  provider = "postgresql"
}
model Order {
  id String @id
}
`;

interface GeneratedClient {
  readonly PrismaClient: new (options: { readonly adapter: PrismaPg }) => Client;
  remove(): Promise<void>;
}

/** A class of Prisma's making: there is none without a schema, and none that is installed. Nothing is fetched. */
export async function generatePrismaClient(): Promise<GeneratedClient> {
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, "bench-prisma-"));
  await writeFile(join(folder, "schema.prisma"), schema);
  const require = createRequire(import.meta.url);
  const prisma = join(dirname(require.resolve("prisma/package.json")), "build/index.js");
  await promisify(execFile)(process.execPath, [prisma, "generate", "--schema", "schema.prisma"], {
    cwd: folder,
    env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: "1" },
  });
  const { PrismaClient } = require(join(folder, "client")) as Pick<GeneratedClient, "PrismaClient">;
  return { PrismaClient, remove: () => rm(folder, { recursive: true, force: true }) };
}
