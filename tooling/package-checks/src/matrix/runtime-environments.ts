import { basename } from "node:path";
import { type Environment, everyPackage } from "./environment.js";
import { generatePrismaClient } from "./generate-prisma-client.js";
import type { Lab } from "./lab.js";
import { runOn } from "./run-on.js";
import { bun, deno, nodes, type Runtime } from "./runtimes.js";

/** Who is tried by the program of another: they do nothing without a driver. */
const triedBy = new Map([
  ["core", "pg"],
  ["worker", "pg"],
]);

/** Each package does its work against a real PostgreSQL. */
export const runtimeEnvironments: readonly Environment[] = [...nodes, bun, deno].map(environmentOf);

function environmentOf(runtime: Runtime): Environment {
  const tried = new Map<string, Promise<readonly string[]>>();
  return {
    id: runtime.id,
    label: runtime.label,
    does: "enqueue in a transaction that commits and in one that does not, work, wake a worker that sleeps, stop; `testing` and `cli`: what they are for",
    packages: everyPackage,
    async check(lab, { folder }) {
      const name = basename(folder);
      const program = triedBy.get(name) ?? name;
      const found = tried.get(program) ?? run(runtime, program, lab);
      tried.set(program, found);
      return found;
    },
  };
}

async function run(runtime: Runtime, program: string, lab: Lab): Promise<readonly string[]> {
  const folder = await lab.projects.together();
  if (program === "prisma") await generatePrismaClient(folder);
  return runOn({ runtime, file: `${program}.mjs`, folder, databaseUrl: await lab.databaseUrl() });
}
