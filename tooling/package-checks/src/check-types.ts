import { existsSync } from "node:fs";
import { copyFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { runProgram } from "./run-program.js";
import { repositoryFolder, type WorkspacePackage } from "./workspace-package.js";

const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
const consumers = join(repositoryFolder, "tooling", "package-checks", "consumers");

/** Declarations of others are not ours to mend; those of PGlite do not check by themselves. */
const isForeign = /^node_modules\/(?!@queue\/)/;

/** The two ways in which a project of today resolves a package. */
const resolutions = [
  { module: "nodenext", moduleResolution: "nodenext" },
  { module: "esnext", moduleResolution: "bundler" },
] as const;

/** What TypeScript has against ten lines that use the installed package. */
export async function checkTypes({ folder }: WorkspacePackage, project: string): Promise<readonly string[]> {
  const consumer = join(consumers, `${basename(folder)}.ts`);
  if (!existsSync(consumer)) return [`tooling/package-checks/consumers/${basename(folder)}.ts is missing: ten lines that use the package`];
  await copyFile(consumer, join(project, "consumer.ts"));
  const problems: string[] = [];
  for (const resolution of resolutions) {
    const compilerOptions = { ...resolution, target: "es2022", strict: true, noEmit: true, skipLibCheck: false, types: ["node"] };
    await writeFile(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["consumer.ts"] }));
    const { status, output } = await runProgram(process.execPath, [tsc, "-p", project], project);
    if (status === 0) continue;
    const own = output.split(/\n(?=\S)/).filter((complaint) => !isForeign.test(complaint));
    if (own.length > 0) problems.push([`${resolution.moduleResolution}:`, ...own].join("\n"));
  }
  return problems;
}
