import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runProgram } from "../run-program.js";
import { runEsbuild } from "./esbuild.js";

const schema = `generator client {
  provider = "prisma-client"
  output   = "./generated"
}
datasource db {
  provider = "postgresql"
}
model Order {
  id String @id
}
`;

/**
 * Generates a client of Prisma into `generated/client.mjs` of a project, once. Prisma writes TypeScript, which an application's own
 * build compiles. Nothing is fetched: the schema engine, which Prisma would look for, is not needed.
 */
export async function generatePrismaClient(folder: string): Promise<void> {
  if (existsSync(join(folder, "generated", "client.mjs"))) return;
  await writeFile(join(folder, "schema.prisma"), schema);
  const environment = { PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: "1" };
  const args = [join(folder, "node_modules", "prisma", "build", "index.js"), "generate", "--schema", "schema.prisma"];
  const { status, output } = await runProgram(process.execPath, args, folder, { environment });
  if (status !== 0) throw new Error(`prisma generate ended with ${status}:\n${output}`);
  const bundle = ["generated/client.ts", "--bundle", "--packages=external", "--platform=node", "--format=esm"];
  const problems = await runEsbuild([...bundle, "--outfile=generated/client.mjs"], folder);
  if (problems.length > 0) throw new Error(problems.join("\n"));
}
