import { execFile } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { runCompiler } from "./run-compiler.js";

/** A TypeScript on this machine. */
export interface Compiler {
  /** `6.0.3` */
  readonly version: string;
  /** Its `bin/tsc`. */
  readonly tsc: string;
}

/** `bin/tsc` of the two that the repository has. */
export const installed = { 6: binOf("typescript"), 7: binOf("typescript-7") } as const;

/** Those of the repository, and `also`, other versions, which npm installs into a temporary folder. */
export async function findCompilers(also: readonly string[]): Promise<Compiler[]> {
  const paths = [...(await Promise.all(also.map(install))), installed[6], installed[7]];
  return Promise.all(paths.map(async (tsc) => ({ version: await versionOf(tsc), tsc })));
}

async function install(version: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "queue-typescript-"));
  await promisify(execFile)("npm", ["install", "--prefix", folder, "--no-audit", "--no-fund", `typescript@${version}`]);
  return join(folder, "node_modules", "typescript", "bin", "tsc");
}

async function versionOf(tsc: string): Promise<string> {
  const version = /Version (\S+)/.exec(await runCompiler(tsc, ["--version"]))?.[1];
  if (version === undefined) throw new Error(`${tsc} is no TypeScript.`);
  return version;
}

function binOf(name: string): string {
  return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), "bin", "tsc");
}
