import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runNpm } from "./run-program.js";

/** Writes a package.json into `folder`, which is empty, and installs what it depends on. */
export async function installProject(folder: string, dependencies: Readonly<Record<string, string>>): Promise<void> {
  const manifest = { name: "consumer", private: true, type: "module", dependencies };
  await writeFile(join(folder, "package.json"), JSON.stringify(manifest, undefined, 2));
  await runNpm(["install", "--prefer-offline", "--no-audit", "--no-fund"], folder);
}
