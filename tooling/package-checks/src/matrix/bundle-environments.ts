import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runProgram } from "../run-program.js";
import { developedWith } from "../workspace-package.js";
import type { Environment } from "./environment.js";
import { esbuildVersion, runEsbuild } from "./esbuild.js";
import type { Lab } from "./lab.js";
import { onceForAll } from "./once-for-all.js";
import { runOn } from "./run-on.js";
import { newestNode } from "./runtimes.js";
import { bringTool } from "./tool.js";

const packages = ["core", "worker", "pg"];

/** pg is CommonJS and requires Node's own modules, which esbuild cannot do in an ES module without this. */
const requireForPg = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

/** One file of esbuild without a package beside it. */
const esbuildEnvironments: readonly Environment[] = (["esm", "cjs"] as const).map((format) => ({
  id: `esbuild-${format}`,
  label: `esbuild ${esbuildVersion}, ${format}`,
  does: "one file with everything in it, which works the jobs of the smoke program",
  packages,
  check: onceForAll(async (lab) => {
    const folder = await lab.projects.some(packages);
    const file = `bundle/esbuild.${format === "esm" ? "mjs" : "cjs"}`;
    const banner = format === "esm" ? [`--banner:js=${requireForPg}`] : [];
    const args = ["pg.mjs", "--bundle", "--platform=node", `--format=${format}`, "--external:pg-native", `--outfile=${file}`, ...banner];
    const problems = await runEsbuild(args, folder);
    return problems.length > 0 ? problems : runAway({ folder, file, lab });
  }),
}));

/** Of ours nothing stays outside the bundle; drivers do, as Vite does by itself. */
const viteConfig = "export default { ssr: { noExternal: [/^@queue\\//] } };\n";

const viteVersion = developedWith("vite", []);

const viteEnvironment: Environment = {
  id: "vite-ssr",
  label: `Vite ${viteVersion}, SSR`,
  does: "`vite build --ssr`, with the packages in the bundle, which works the jobs of the smoke program",
  packages,
  check: onceForAll(async (lab) => {
    const folder = await lab.projects.some(packages);
    await writeFile(join(folder, "vite.config.mjs"), viteConfig);
    const vite = await bringTool({ name: "vite", version: viteVersion, file: "bin/vite.js" });
    const args = ["build", "--ssr", "pg.mjs", "--outDir", "bundle-vite", "--logLevel", "warn", "--config", "vite.config.mjs"];
    const { status, output } = await runProgram(process.execPath, [vite, ...args], folder);
    if (status !== 0 || output !== "") return [`vite build ended with ${status}:\n${output}`];
    return runOn({ runtime: newestNode, file: "bundle-vite/pg.js", folder, databaseUrl: await lab.databaseUrl() });
  }),
};

export const bundleEnvironments: readonly Environment[] = [...esbuildEnvironments, viteEnvironment];

/** From a folder without node_modules above it, so that nothing can be taken from there. */
async function runAway({ folder, file, lab }: { readonly folder: string; readonly file: string; readonly lab: Lab }) {
  const away = join(folder, "..", "..", "away");
  await mkdir(away, { recursive: true });
  return runOn({ runtime: newestNode, file: join(folder, file), folder: away, databaseUrl: await lab.databaseUrl() });
}
