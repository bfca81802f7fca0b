import { join } from "node:path";
import { readWorkspacePackage, repositoryFolder } from "../workspace-package.js";
import { writeCompatibility } from "./compatibility-page.js";
import { type Environment, everyPackage } from "./environment.js";
import { judge, type Verdict } from "./judge.js";
import { findLimit } from "./known-limits.js";
import { Lab } from "./lab.js";
import { readMatrixOptions } from "./matrix-options.js";
import { keepResult, keptResults } from "./results.js";
import type { WorkspacePackage } from "../workspace-package.js";

const options = readMatrixOptions(process.argv.slice(2));
const packages = everyPackage.map((name) => readWorkspacePackage(join(repositoryFolder, "packages", name)));
if (options.list) {
  for (const { id, label, packages: tried } of options.environments) console.log(`${id.padEnd(20)} ${label}: ${tried.join(", ")}`);
} else {
  await using lab = new Lab(packages, options.write);
  for (const environment of options.environments) await tryEnvironment(environment, lab);
  if (options.write) await writeCompatibility(await keptResults(), lab.projects.versions());
}

async function tryEnvironment(environment: Environment, lab: Lab): Promise<void> {
  const names = options.packages.filter((name) => environment.packages.includes(name));
  for (const [index, subject] of packages.entries()) {
    const name = everyPackage[index] ?? "";
    if (!names.includes(name)) continue;
    const started = performance.now();
    const verdict = judge(await problemsOf(environment, subject, lab), findLimit(environment.id, name));
    report(`${environment.label}: ${name}`, verdict, performance.now() - started);
    const { checksum } = await lab.projects.tarball(subject);
    await keepResult({ environment: environment.id, package: name, outcome: verdict.outcome, checksum, at: new Date().toISOString() });
  }
}

/** What stops a check is a problem of the package that it was about; the others go on. */
async function problemsOf(environment: Environment, subject: WorkspacePackage, lab: Lab): Promise<readonly string[]> {
  try {
    return await environment.check(lab, subject);
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

function report(what: string, { outcome, problems }: Verdict, ms: number): void {
  const words = { works: "ok", limit: "known limit", failed: "FAILED" } as const;
  console.log(`${what}: ${words[outcome]} (${(ms / 1000).toFixed(1)} s)`);
  for (const problem of problems) console.log(`  ${problem.replaceAll("\n", "\n  ")}`);
  if (outcome === "failed") process.exitCode = 1;
}
