import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runProgram } from "./run-program.js";
import type { WorkspacePackage } from "./workspace-package.js";

/**
 * Loads every public entry in the project, in a process of its own: each must export something, write nothing, and leave
 * nothing running that keeps the process alive.
 */
export async function checkImports({ manifest }: WorkspacePackage, project: string): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const subpath of Object.keys(manifest.exports)) {
    const entry = `${manifest.name}${subpath.slice(1)}`;
    const file = join(project, "load.mjs");
    await writeFile(file, subpath.endsWith(".json") ? loadJson(entry) : loadModule(entry));
    const { status, output } = await runProgram(process.execPath, [file], project);
    if (status !== 0 || output !== "") problems.push(`import "${entry}" ended with ${status}:\n${output}`);
  }
  return problems;
}

function loadModule(entry: string): string {
  return `
    const limit = setTimeout(() => { throw new Error("The import left something running."); }, 5_000);
    const imported = Object.keys(await import("${entry}"));
    limit.unref();
    if (imported.length === 0) throw new Error("It exports nothing.");
  `;
}

function loadJson(entry: string): string {
  return `
    import { createRequire } from "node:module";
    createRequire(import.meta.url)("${entry}");
  `;
}
