import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { packPackage, type Tarball } from "./pack-package.js";
import { runNpm } from "./run-program.js";
import { developedWith, isDevelopedWith, type WorkspacePackage } from "./workspace-package.js";

/** A project that has installed a package. */
export interface ConsumerProject {
  readonly folder: string;
  /** What differs from other projects: `kysely 0.28.19`. */
  readonly label: string;
}

/**
 * Installs the tarball of `subject`, those of its siblings, and its peers as they are published, into empty projects: one for each
 * supported version of kysely.
 */
export async function installAlone(subject: WorkspacePackage, tarball: Tarball, folder: string): Promise<readonly ConsumerProject[]> {
  const packages = [subject, ...subject.siblings];
  const tarballs = new Map([[subject.manifest.name, `file:${tarball.path}`]]);
  for (const sibling of subject.siblings) tarballs.set(sibling.manifest.name, `file:${(await packPackage(sibling, folder)).path}`);
  const peers = packages.flatMap((each) => Object.keys(each.manifest.peerDependencies ?? {}));
  const types = ["@types/node", ...peers.map((peer) => `@types/${peer}`).filter((name) => isDevelopedWith(name, packages))];
  const others = new Map([...peers, ...types].map((name) => [name, developedWith(name, packages)]));
  const projects: ConsumerProject[] = [];
  for (const kysely of kyselyVersions(subject)) {
    const dependencies = Object.fromEntries([...tarballs, ...others, ["kysely", kysely]]);
    projects.push(await installProject(join(folder, `kysely-${kysely}`), `kysely ${kysely}`, dependencies));
  }
  return projects;
}

/** Who does not use kysely itself leaves it to core, which is tried with both. */
function kyselyVersions({ manifest }: WorkspacePackage): readonly string[] {
  const isUsed = manifest.peerDependencies?.["kysely"] !== undefined;
  const first = developedWith("kysely", []);
  return isUsed ? [first, developedWith("kysely-029", [])] : [first];
}

async function installProject(folder: string, label: string, dependencies: Readonly<Record<string, string>>): Promise<ConsumerProject> {
  await mkdir(folder);
  await writeFile(join(folder, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module", dependencies }));
  await runNpm(["install", "--prefer-offline", "--no-audit", "--no-fund"], folder);
  return { folder, label };
}
