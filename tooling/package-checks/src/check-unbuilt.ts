import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { runProgram } from "./run-program.js";
import { repositoryFolder, type WorkspacePackage } from "./workspace-package.js";

/** What comes of packing `subject` without a build, other than a refusal that says why. */
export async function checkUnbuilt({ folder }: WorkspacePackage): Promise<readonly string[]> {
  // A copy, in folders that are named as in the repository: nobody's build is touched.
  const root = await mkdtemp(join(tmpdir(), "queue-unbuilt-"));
  try {
    const copy = join(root, "packages", basename(folder));
    await cp(folder, copy, { recursive: true, filter: (path) => !["dist", "node_modules"].includes(basename(path)) });
    const guards = join(repositoryFolder, "tooling", "package-checks", "guards");
    await cp(guards, join(root, "tooling", "package-checks", "guards"), { recursive: true });
    const { status, output } = await runProgram("npm", ["pack"], copy);
    const packed = (await readdir(copy)).filter((name) => name.endsWith(".tgz"));
    if (packed.length > 0 || status === 0) return [`npm pack without a build made ${packed.join() || "nothing"} and ended with ${status}.`];
    return output.includes("has not been built") ? [] : [`npm pack refused without a sentence:\n${output}`];
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}
