import { createRequire } from "node:module";
import { compileConsumers, isForeign, type Resolution } from "./compile-consumers.js";
import type { WorkspacePackage } from "./workspace-package.js";

const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");

/** The two ways in which a project of today resolves a package. */
const resolutions: readonly Resolution[] = ["nodenext", "bundler"];

/** What TypeScript has against ten lines that use the installed package. */
export async function checkTypes(subject: WorkspacePackage, project: string): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const resolution of resolutions) {
    const complaints = await compileConsumers([subject], project, { tsc, resolution });
    // Declarations of others are not ours to mend; those of PGlite do not check by themselves.
    const own = complaints.filter((complaint) => !isForeign(complaint));
    if (own.length > 0) problems.push([`${resolution}:`, ...own].join("\n"));
  }
  return problems;
}
