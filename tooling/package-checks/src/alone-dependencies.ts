import { developedWith, isDevelopedWith, type WorkspacePackage } from "./workspace-package.js";

/** Paths of tarballs, by the name of the package in them. */
export type Tarballs = ReadonlyMap<string, string>;

/**
 * What a project depends on that has installed `subject` and nothing else: its tarball and those of its siblings, and their peers
 * with the types of these, in the versions that this repository is developed with.
 */
export function aloneDependencies(subject: WorkspacePackage, tarballs: Tarballs): Readonly<Record<string, string>> {
  const packages = [subject, ...subject.siblings];
  const own = packages.map(({ manifest }) => [manifest.name, `file:${tarballOf(manifest.name, tarballs)}`] as const);
  const peers = packages.flatMap((each) => Object.keys(each.manifest.peerDependencies ?? {}));
  const types = ["@types/node", ...peers.map((peer) => `@types/${peer}`).filter((name) => isDevelopedWith(name, packages))];
  const others = [...peers, ...types].map((name) => [name, developedWith(name, packages)] as const);
  return Object.fromEntries([...own, ...others]);
}

function tarballOf(name: string, tarballs: Tarballs): string {
  const path = tarballs.get(name);
  if (path === undefined) throw new Error(`There is no tarball of ${name}.`);
  return path;
}
