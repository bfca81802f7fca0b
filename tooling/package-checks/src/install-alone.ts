import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { aloneDependencies } from "./alone-dependencies.js";
import { installProject } from "./install-project.js";
import { packPackage, type Tarball } from "./pack-package.js";
import { developedWith, type WorkspacePackage } from "./workspace-package.js";

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
  const tarballs = new Map([[subject.manifest.name, tarball.path]]);
  for (const sibling of subject.siblings) tarballs.set(sibling.manifest.name, (await packPackage(sibling, folder)).path);
  const dependencies = aloneDependencies(subject, tarballs);
  const projects: ConsumerProject[] = [];
  for (const kysely of kyselyVersions(subject)) {
    const project = { folder: join(folder, `kysely-${kysely}`), label: `kysely ${kysely}` };
    await mkdir(project.folder);
    await installProject(project.folder, { ...dependencies, kysely });
    projects.push(project);
  }
  return projects;
}

/** Who does not use kysely itself leaves it to core, which is tried with both. */
function kyselyVersions({ manifest }: WorkspacePackage): readonly string[] {
  const isUsed = manifest.peerDependencies?.["kysely"] !== undefined;
  const first = developedWith("kysely", []);
  return isUsed ? [first, developedWith("kysely-029", [])] : [first];
}
