import { rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { checkContents } from "./check-contents.js";
import { checkImports } from "./check-imports.js";
import { checkPublint } from "./check-publint.js";
import { checkResolution } from "./check-resolution.js";
import { checkSize } from "./check-size.js";
import { checkTypes } from "./check-types.js";
import { checkUnbuilt } from "./check-unbuilt.js";
import { installAlone } from "./install-alone.js";
import { packPackage } from "./pack-package.js";
import { readWorkspacePackage } from "./workspace-package.js";

const subject = readWorkspacePackage(resolve(process.argv[2] ?? "."));
const folder = await mkdtemp(join(tmpdir(), "queue-package-"));
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    rmSync(folder, { recursive: true, force: true });
    process.kill(process.pid, signal);
  });
}
try {
  const tarball = await packPackage(subject, folder);
  await report("holds what it should, and nothing else", checkContents(tarball));
  await report("publint", checkPublint(subject, tarball));
  await report("are the types wrong", checkResolution(tarball));
  await report("is not packed without a build", checkUnbuilt(subject));
  const projects = await installAlone(subject, tarball, folder);
  for (const project of projects) {
    await report(`installs alone and loads, ${project.label}`, checkImports(subject, project.folder));
    await report(`a consumer type-checks, ${project.label}`, checkTypes(subject, project.folder));
  }
  for (const { folder: project } of projects.slice(0, 1)) {
    await report("its README tells what it installs", checkSize(subject, project));
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function report(check: string, found: readonly string[] | Promise<readonly string[]>): Promise<void> {
  const problems = await found;
  console.log(`${subject.manifest.name}: ${check}: ${problems.length === 0 ? "ok" : "FAILED"}`);
  for (const problem of problems) console.log(`  ${problem.replaceAll("\n", "\n  ")}`);
  if (problems.length > 0) process.exitCode = 1;
}
