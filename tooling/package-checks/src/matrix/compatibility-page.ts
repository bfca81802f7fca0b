import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { repositoryFolder } from "../workspace-package.js";
import { type Environment, everyPackage } from "./environment.js";
import { environments } from "./environments.js";
import { findLimit } from "./known-limits.js";
import { foreignFaults } from "./foreign-types.js";
import type { MatrixResult } from "./results.js";

/** The libraries that the packages were tried with: `["pg", "8.23.1"]`. */
export type Versions = readonly (readonly [name: string, version: string])[];

const page = join(repositoryFolder, "docs", "compatibility.md");

/** Writes the table of all that has been tried, whenever that was. */
export async function writeCompatibility(results: readonly MatrixResult[], versions: Versions): Promise<void> {
  await writeFile(page, renderCompatibility(results, versions));
}

function labelsWhere(isMeant: (environment: Environment) => boolean): string {
  return environments
    .filter(isMeant)
    .map(({ label }) => label)
    .join(" · ");
}

/** The page, from the results and from what is known of limits. */
export function renderCompatibility(results: readonly MatrixResult[], versions: Versions): string {
  const notes: string[] = [];
  const rows = environments.map((environment) => rowOf(environment, results, notes));
  return [
    "# Where the packages work",
    "",
    "Each package is packed, installed from its tarball, and used as an application uses it, on a real PostgreSQL: `npm run test:matrix`.",
    "`npm run test:matrix -- --write` writes this page, from its last results; they are not edited by hand.",
    "",
    `With ${versions.map(([name, version]) => `${name} ${version}`).join(", ")}. What else is supported stands in the README of each package.`,
    "",
    `| | ${everyPackage.join(" | ")} | tried |`,
    `|---|${everyPackage.map(() => "---|").join("")}---|`,
    ...rows,
    "",
    "✓ works · ✗ fails · a number: a known limit, below · empty: not tried, because it would show nothing",
    "",
    ...notes.map((note, index) => `${index + 1}. ${note}`),
    ...(notes.length > 0 ? [""] : []),
    "## What is done in each",
    "",
    ...[...new Set(environments.map(({ does }) => does))].map((does) => `* **${labelsWhere((each) => each.does === does)}**: ${does}.`),
    "",
    "## Types of others",
    "",
    "With `skipLibCheck: false` a compiler also reads the declarations of drivers and ORMs. These do not compile, whatever we do; a project",
    "that has them sets `skipLibCheck`. Nothing else is passed over, and one that compiles again fails the run.",
    "",
    ...foreignFaults.map((fault) => `* \`${fault.name}\`, ${labelsWhere(({ id }) => fault.environments.includes(id))}: \`${fault.error}\``),
    "",
  ].join("\n");
}

function rowOf({ id, label, packages }: Environment, results: readonly MatrixResult[], notes: string[]): string {
  const own = results.filter(({ environment }) => environment === id);
  const cells = everyPackage.map((name) => {
    const outcome = packages.includes(name) ? own.find((result) => result.package === name)?.outcome : undefined;
    if (outcome !== "limit") return outcome === undefined ? "" : { works: "✓", failed: "✗" }[outcome];
    const reason = findLimit(id, name)?.reason ?? "";
    if (!notes.includes(reason)) notes.push(reason);
    return String(notes.indexOf(reason) + 1);
  });
  const days = own.map(({ at }) => at.slice(0, "2026-11-29".length)).sort();
  return `| ${label} | ${cells.join(" | ")} | ${days[0] ?? ""} |`;
}
