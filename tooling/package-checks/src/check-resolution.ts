import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Tarball } from "./pack-package.js";
import { runProgram } from "./run-program.js";

const attw = join(dirname(createRequire(import.meta.url).resolve("@arethetypeswrong/cli/package.json")), "dist", "index.js");

/** What "are the types wrong" has against a tarball, for users of ES modules. */
export async function checkResolution({ path }: Tarball): Promise<readonly string[]> {
  const args = [attw, path, "--profile", "esm-only", "--no-definitely-typed", "--format", "table-flipped", "--no-emoji"];
  const { status, output } = await runProgram(process.execPath, args, dirname(path));
  return status === 0 ? [] : [output];
}
