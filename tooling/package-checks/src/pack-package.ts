import { join } from "node:path";
import { runNpm } from "./run-program.js";
import type { WorkspacePackage } from "./workspace-package.js";

/** What npm would publish. */
export interface Tarball {
  readonly path: string;
  /** The files in it, from the package's root. */
  readonly files: readonly string[];
}

/** Packs `subject` into `folder`. */
export async function packPackage(subject: WorkspacePackage, folder: string): Promise<Tarball> {
  const stdout = await runNpm(["pack", "--json", "--pack-destination", folder], subject.folder);
  const [packed] = JSON.parse(stdout) as readonly { readonly filename: string; readonly files: readonly { readonly path: string }[] }[];
  if (packed === undefined) throw new Error(`npm pack made nothing of ${subject.manifest.name}`);
  return { path: join(folder, packed.filename), files: packed.files.map((file) => file.path) };
}
