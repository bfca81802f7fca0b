import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

/** What an installation of a package takes. */
export interface InstalledSize {
  /** Of the package itself, in bytes. */
  readonly ownBytes: number;
  /** Its dependencies, as package.json names them, in order. */
  readonly dependencies: readonly string[];
  /** Those and theirs, each once; peers are none of them. */
  readonly dependencyCount: number;
  /** All of that, in bytes. */
  readonly totalBytes: number;
  /** Its peers and those of its dependencies that are none of these, in order; optional ones are left out. */
  readonly peers: readonly string[];
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** Measures the package `name` where it is installed, in the project `folder`. */
export async function measureInstalled(name: string, folder: string): Promise<InstalledSize> {
  const own = join(folder, "node_modules", name);
  const found: Collected = { sizes: new Map(), names: new Set([name]), peers: new Set() };
  await collect(own, found);
  const { dependencies = {} } = await readManifest(own);
  return {
    ownBytes: found.sizes.get(own) ?? 0,
    dependencies: Object.keys(dependencies).sort(),
    dependencyCount: found.sizes.size - 1,
    totalBytes: [...found.sizes.values()].reduce((sum, bytes) => sum + bytes, 0),
    peers: [...found.peers].filter((peer) => !found.names.has(peer)).sort(),
  };
}

/** What is gathered on the way through the dependencies. */
interface Collected {
  /** In bytes, by folder. */
  readonly sizes: Map<string, number>;
  readonly names: Set<string>;
  readonly peers: Set<string>;
}

/** The package in `folder` and what it depends on, each where Node would find it. */
async function collect(folder: string, found: Collected): Promise<void> {
  if (found.sizes.has(folder)) return;
  found.sizes.set(folder, await bytesIn(folder));
  const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = await readManifest(folder);
  for (const peer of Object.keys(peerDependencies)) if (peerDependenciesMeta[peer]?.optional !== true) found.peers.add(peer);
  for (const dependency of Object.keys(dependencies)) {
    found.names.add(dependency);
    await collect(resolveFrom(folder, dependency), found);
  }
}

function resolveFrom(folder: string, dependency: string): string {
  for (let place = folder; place !== dirname(place); place = dirname(place)) {
    const candidate = join(place, "node_modules", dependency);
    if (existsSync(candidate)) return candidate;
  }
  throw new Error(`${dependency}, on which ${folder} depends, is not installed.`);
}

async function bytesIn(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.name === "node_modules") continue;
    const path = join(folder, entry.name);
    bytes += entry.isDirectory() ? await bytesIn(path) : (await stat(path)).size;
  }
  return bytes;
}

async function readManifest(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as Manifest;
}
