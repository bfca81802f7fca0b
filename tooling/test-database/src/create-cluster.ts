import { execFile } from "node:child_process";
import { chown, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { OperatingSystemUser } from "./operating-system-user.js";
import type { PostgresBinaries } from "./postgres-binaries.js";
import { programVersion } from "./program-version.js";
import type { ServerFolder } from "./server-folder.js";

export interface ClusterOptions {
  readonly binaries: PostgresBinaries;
  readonly folder: ServerFolder;
  readonly user: OperatingSystemUser;
  /** Of the superuser `postgres`. */
  readonly password: string;
}

/** Sorts as people do and not by bytes, so that an order that forgot its collation shows. */
const peoplesOrder = ["--locale-provider=icu", "--icu-locale=en-US"];
/** Tests connect all the time, and what the password guards are a few minutes of test data. */
const quickPassword = "--set=scram_iterations=1";

/** Fills the data folder. */
export async function createCluster({ binaries, folder, user, password }: ClusterOptions): Promise<void> {
  const version = programVersion(binaries.postgres);
  const passwordFile = join(folder.path, "password");
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (user.uid !== undefined && user.gid !== undefined) await chown(passwordFile, user.uid, user.gid);
  await promisify(execFile)(
    binaries.initdb,
    [
      `--pgdata=${folder.data}`,
      "--username=postgres",
      `--pwfile=${passwordFile}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--locale=C",
      ...(version >= 15 ? peoplesOrder : []),
      ...(version >= 16 ? [quickPassword] : []),
      "--no-sync",
    ],
    { cwd: folder.data, ...user },
  );
  await rm(passwordFile);
}
