import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** What of a package.json matters here. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** A package of this repository. */
export interface WorkspacePackage {
  readonly folder: string;
  readonly manifest: Manifest;
  /** Its dependencies in this repository, and theirs. */
  readonly siblings: readonly WorkspacePackage[];
}

/** The root of the repository. */
export const repositoryFolder = fileURLToPath(new URL("../../..", import.meta.url));

const scope = "@queue/";

/** Reads the package in `folder`. */
export function readWorkspacePackage(folder: string): WorkspacePackage {
  const manifest = readManifest(folder);
  const direct = Object.keys(manifest.dependencies ?? {})
    .filter((name) => name.startsWith(scope))
    .map((name) => readWorkspacePackage(join(dirname(folder), name.slice(scope.length))));
  const siblings = new Map(direct.flatMap((sibling) => [sibling, ...sibling.siblings]).map((sibling) => [sibling.manifest.name, sibling]));
  return { folder, manifest, siblings: [...siblings.values()] };
}

/** What a program may import of a package: `@queue/core`, `@queue/core/adapter` … */
export function entriesOf({ name, exports }: Manifest): readonly string[] {
  return Object.keys(exports)
    .filter((subpath) => !subpath.endsWith(".json"))
    .map((subpath) => `${name}${subpath.slice(1)}`);
}

/** The version of an npm package that this repository, or one of `packages`, is developed with. */
export function developedWith(name: string, packages: readonly WorkspacePackage[]): string {
  const version = findVersion(name, packages);
  if (version === undefined)
    throw new Error(`${name} is a peer of a package, but among the devDependencies neither of it nor of the root.`);
  return version.replace(/^npm:.+@/, "");
}

/** Whether it is among the tools of the repository, or of one of `packages`. */
export function isDevelopedWith(name: string, packages: readonly WorkspacePackage[]): boolean {
  return findVersion(name, packages) !== undefined;
}

function findVersion(name: string, packages: readonly WorkspacePackage[]): string | undefined {
  const manifests = [readManifest(repositoryFolder), ...packages.map(({ manifest }) => manifest)];
  return manifests.flatMap(({ devDependencies }) => devDependencies?.[name] ?? [])[0];
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}
