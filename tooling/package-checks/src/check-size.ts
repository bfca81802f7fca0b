import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { measureInstalled } from "./installed-size.js";
import { checkSizeSection, writeSizeSection } from "./size-section.js";
import type { WorkspacePackage } from "./workspace-package.js";

/** What the README of `subject` says of its size and dependencies, and is not so where it is installed. */
export async function checkSize({ folder, manifest }: WorkspacePackage, project: string): Promise<readonly string[]> {
  const readme = await readFile(join(folder, "README.md"), "utf8");
  return checkSizeSection(readme, await measureInstalled(manifest.name, project));
}

/** Lets the README say what is so. What is near enough stays, so that a page does not change with every commit. */
export async function writeSize(subject: WorkspacePackage, project: string): Promise<void> {
  if ((await checkSize(subject, project)).length === 0) return;
  const path = join(subject.folder, "README.md");
  const size = await measureInstalled(subject.manifest.name, project);
  await writeFile(path, writeSizeSection(await readFile(path, "utf8"), size));
}
