import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { runProgram } from "./run-program.js";
import { entriesOf, type Manifest, repositoryFolder, type WorkspacePackage } from "./workspace-package.js";

/** How a project finds packages. */
export type Resolution = "bundler" | "node16" | "nodenext";

export interface CompileOptions {
  /** The compiler's file. */
  readonly tsc: string;
  readonly resolution: Resolution;
}

const consumers = join(repositoryFolder, "tooling", "package-checks", "consumers");

/**
 * Compiles ten lines for each of `packages`, in a project that has installed them: `strict`, and with every declaration file that they
 * and the public entries lead to.
 *
 * @returns each complaint of the compiler; its first line begins with the path of the file, from the project: `consumers/pg.ts`
 */
export async function compileConsumers(
  packages: readonly WorkspacePackage[],
  project: string,
  { tsc, resolution }: CompileOptions,
): Promise<readonly string[]> {
  const files = packages.map(({ folder }) => `${basename(folder)}.ts`);
  const missing = files.filter((file) => !existsSync(join(consumers, file)));
  if (missing.length > 0)
    return missing.map((file) => `tooling/package-checks/consumers/${file} is missing: ten lines that use the package`);
  await mkdir(join(project, "consumers"), { recursive: true });
  for (const { folder, manifest } of packages) {
    const file = `${basename(folder)}.ts`;
    const used = await readFile(join(consumers, file), "utf8");
    await writeFile(join(project, "consumers", file), `${used}\n${everyEntry(manifest)}`);
  }
  const compilerOptions = {
    module: resolution === "bundler" ? "esnext" : resolution,
    moduleResolution: resolution,
    target: "es2022",
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    types: ["node"],
  };
  const config = { compilerOptions, files: files.map((file) => `consumers/${file}`) };
  await writeFile(join(project, "tsconfig.json"), JSON.stringify(config));
  const { status, output } = await runProgram(process.execPath, [tsc, "-p", project], project);
  if (status === 0) return [];
  return output.trimEnd().split(/\n(?=\S)/);
}

/** Lines that lead to the entries that the ten lines do not use. */
function everyEntry(manifest: Manifest): string {
  return entriesOf(manifest)
    .map((entry, index) => `export type * as entry${index} from "${entry}";\n`)
    .join("");
}

/** Whether a complaint is about the declarations of somebody else. */
export function isForeign(complaint: string): boolean {
  return /^node_modules\/(?!@queue\/)/.test(complaint);
}
