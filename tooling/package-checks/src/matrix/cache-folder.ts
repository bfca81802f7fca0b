import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What a run leaves for the next: tools, tarballs, installed projects, results. It may be deleted at any time. */
export const cacheFolder = join(tmpdir(), "queue-package-checks");

const complete = ".complete";

/**
 * The folder `name` of the cache, filled by `fill` if it is not there. It appears as a whole or not at all, so a run that was
 * interrupted leaves nothing that the next would take for good.
 */
export async function cachedFolder(name: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(cacheFolder, name);
  if (existsSync(join(folder, complete))) return folder;
  await mkdir(join(folder, ".."), { recursive: true });
  const unfinished = await mkdtemp(join(cacheFolder, "unfinished-"));
  try {
    await fill(unfinished);
    await writeFile(join(unfinished, complete), "");
    await rm(folder, { recursive: true, force: true });
    await rename(unfinished, folder);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return folder;
}
