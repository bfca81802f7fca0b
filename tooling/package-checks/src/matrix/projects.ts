import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { aloneDependencies } from "../alone-dependencies.js";
import { installProject } from "../install-project.js";
import { packPackage, type Tarball } from "../pack-package.js";
import { developedWith, repositoryFolder, type WorkspacePackage } from "../workspace-package.js";
import { cachedFolder, cacheFolder } from "./cache-folder.js";

/** What the smoke programs need besides the peers of the packages: drivers below an ORM, a WebSocket, a generator. */
const drivers = ["@mikro-orm/postgresql", "@prisma/adapter-pg", "prisma", "ws"];

/** Where the programs are that use the packages as an application does. */
const programs = join(repositoryFolder, "tooling", "package-checks", "programs");

/** Projects that have installed packages from their tarballs; each is installed once for the same tarballs. */
export class Projects {
  /** Everything that is published. */
  readonly packages: readonly WorkspacePackage[];
  readonly #tarballs = new Map<string, Promise<Tarball>>();

  constructor(packages: readonly WorkspacePackage[]) {
    this.packages = packages;
  }

  /** The tarball of `subject`, as it is built now. */
  tarball(subject: WorkspacePackage): Promise<Tarball> {
    const { name } = subject.manifest;
    const packed = this.#tarballs.get(name) ?? pack(subject);
    this.#tarballs.set(name, packed);
    return packed;
  }

  /** A project with every package and every driver, and the programs that use them. */
  async together(): Promise<string> {
    const tarballs = await this.#paths(this.packages);
    const dependencies = Object.assign({}, ...this.packages.map((each) => aloneDependencies(each, tarballs))) as Record<string, string>;
    for (const driver of drivers) dependencies[driver] = developedWith(driver, this.packages);
    const folder = await installed("together", dependencies);
    await copyPrograms(folder);
    return folder;
  }

  /** A project with some packages, their peers, what is named in `others`, and the programs; `copy` sets equal ones apart. */
  async some(names: readonly string[], others: Readonly<Record<string, string>> = {}, copy = names.join("-")): Promise<string> {
    const packages = this.packages.filter(({ folder }) => names.includes(basename(folder)));
    const tarballs = await this.#paths(packages.flatMap((each) => [each, ...each.siblings]));
    const dependencies = Object.assign({}, ...packages.map((each) => aloneDependencies(each, tarballs)), others) as Record<string, string>;
    const folder = await installed(copy, dependencies);
    await copyPrograms(folder);
    return folder;
  }

  /** The versions of what the packages are tried with, by name. */
  versions(): readonly (readonly [name: string, version: string])[] {
    const peers = this.packages.flatMap(({ manifest }) => Object.keys(manifest.peerDependencies ?? {}));
    return [...new Set([...peers, ...drivers])].sort().map((name) => [name, developedWith(name, this.packages)]);
  }

  async #paths(packages: readonly WorkspacePackage[]): Promise<ReadonlyMap<string, string>> {
    const paths = new Map<string, string>();
    for (const each of packages) paths.set(each.manifest.name, (await this.tarball(each)).path);
    return paths;
  }
}

/** Named by its content, so that a project that has it installed is used again. */
async function pack(subject: WorkspacePackage): Promise<Tarball> {
  await mkdir(join(cacheFolder, "tarballs"), { recursive: true });
  const folder = await mkdtemp(join(cacheFolder, "unfinished-"));
  try {
    const tarball = await packPackage(subject, folder);
    const path = join(cacheFolder, "tarballs", `${basename(subject.folder)}-${tarball.checksum}.tgz`);
    if (!existsSync(path)) await copyFile(tarball.path, path);
    return { ...tarball, path };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function installed(label: string, dependencies: Readonly<Record<string, string>>): Promise<string> {
  const content = JSON.stringify(
    Object.keys(dependencies)
      .sort()
      .map((each) => [each, dependencies[each]]),
  );
  const name = `${label}-${createHash("sha256").update(content).digest("hex").slice(0, 16)}`;
  const parent = join(cacheFolder, "projects");
  await mkdir(parent, { recursive: true });
  const older = (await readdir(parent)).filter((each) => each !== name && each.slice(0, -17) === label);
  for (const each of older) await rm(join(parent, each), { recursive: true, force: true });
  return cachedFolder(join("projects", name), (folder) => installProject(folder, dependencies));
}

async function copyPrograms(folder: string): Promise<void> {
  for (const file of await readdir(programs)) await copyFile(join(programs, file), join(folder, file));
}
