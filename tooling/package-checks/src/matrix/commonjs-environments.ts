import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runProgram } from "../run-program.js";
import { entriesOf } from "../workspace-package.js";
import { type Environment, everyPackage } from "./environment.js";
import { bun, commandOf, deno, nodes, type Runtime } from "./runtimes.js";

/** Every public entry of a package is loaded by a CommonJS module, by `import()` and by `require()`, to the same names. */
export const commonjsEnvironments: readonly Environment[] = [...nodes, bun, deno].map((runtime) => ({
  id: `commonjs-${runtime.id}`,
  label: `CommonJS on ${runtime.label}`,
  does: "`import()` and `require()` of every entry, from a `.cjs`",
  packages: everyPackage,
  async check(lab, subject) {
    const folder = await lab.projects.together();
    const problems: string[] = [];
    for (const entry of entriesOf(subject.manifest)) problems.push(...(await loadFromCommonjs(entry, folder, runtime)));
    return problems;
  },
}));

async function loadFromCommonjs(entry: string, folder: string, runtime: Runtime): Promise<readonly string[]> {
  const problems: string[] = [];
  const both = [
    ["import", `import("${entry}")`],
    ["require", `Promise.resolve(require("${entry}"))`],
  ] as const;
  const names: string[] = [];
  for (const [way, expression] of both) {
    const file = `load-by-${way}.cjs`;
    await writeFile(join(folder, file), `${expression}.then((all) => console.log(Object.keys(all).sort().join()));\n`);
    const [program, args] = await commandOf(runtime, file);
    const { status, output } = await runProgram(program, args, folder, { limitMs: 60_000 });
    if (status !== 0 || !/^[\w,]+\n$/.test(output)) problems.push(`${way} of "${entry}" ended with ${status}:\n${output}`);
    names.push(output);
  }
  if (problems.length === 0 && names[0] !== names[1]) problems.push(`"${entry}" gives other names to require: ${names[1]} not ${names[0]}`);
  return problems;
}
