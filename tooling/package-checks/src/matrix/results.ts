import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder } from "./cache-folder.js";
import type { Verdict } from "./judge.js";

/** What came of trying a package in an environment. */
export interface MatrixResult {
  readonly environment: string;
  readonly package: string;
  readonly outcome: Verdict["outcome"];
  /** Of the tarball that was tried. */
  readonly checksum: string;
  /** ISO 8601. */
  readonly at: string;
}

const file = join(cacheFolder, "results.json");

/** The last result of each package in each environment: a long run may be made in pieces. */
export async function keptResults(): Promise<readonly MatrixResult[]> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as MatrixResult[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

export async function keepResult(result: MatrixResult): Promise<void> {
  const others = (await keptResults()).filter((each) => each.environment !== result.environment || each.package !== result.package);
  await mkdir(cacheFolder, { recursive: true });
  await writeFile(file, JSON.stringify([...others, result], undefined, 1));
}
