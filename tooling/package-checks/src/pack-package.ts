import { join } from "node:path";
import { runNpm } from "./run-program.js";
import type { WorkspacePackage } from "./workspace-package.js";

/** What npm would publish. */
export interface Tarball {
  readonly path: string;
  /** The files in it, from the package's root. */
  readonly files: readonly string[];
  /** What it takes on a disk, in bytes. */
  readonly unpackedSize: number;
  /** Of its content: the same files give the same. */
  readonly checksum: string;
}

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
  readonly unpackedSize: number;
  readonly shasum: string;
}

/** Packs `subject`, as it has been built, into `folder`. What its scripts would do before is tried by `checkUnbuilt`. */
export async function packPackage(subject: WorkspacePackage, folder: string): Promise<Tarball> {
  const stdout = await runNpm(["pack", "--json", "--ignore-scripts", "--pack-destination", folder], subject.folder);
  const [packed] = JSON.parse(stdout) as readonly Packed[];
  if (packed === undefined) throw new Error(`npm pack made nothing of ${subject.manifest.name}`);
  const { filename, files, unpackedSize, shasum } = packed;
  return { path: join(folder, filename), files: files.map((file) => file.path), unpackedSize, checksum: shasum };
}
