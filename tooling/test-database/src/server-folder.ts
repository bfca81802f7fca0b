import { spawnSync } from "node:child_process";
import { chmod, chown, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OperatingSystemUser } from "./operating-system-user.js";

/** The temporary folder of one server: everything it writes is in here, and goes with it. */
export interface ServerFolder {
  readonly path: string;
  /** Owned by the user that runs the server. */
  readonly data: string;
}

/** A new folder that `user` can reach. TMPDIR may lie below a folder of mode 700, so the system's own are tried as well. */
export async function createServerFolder(user: OperatingSystemUser): Promise<ServerFolder> {
  const tried: string[] = [];
  for (const base of new Set([tmpdir(), "/tmp", "/var/tmp"])) {
    const path = await mkdtemp(join(base, "queue-test-postgres-"));
    await chmod(path, 0o755);
    if (canReach(path, user)) return { path, data: await createDataFolder(path, user) };
    await rm(path, { recursive: true });
    tried.push(base);
  }
  throw new Error(
    `The user that runs PostgreSQL (uid ${user.uid}) can reach none of ${tried.join(", ")}. Set TMPDIR to a folder that it can.`,
  );
}

async function createDataFolder(path: string, { uid, gid }: OperatingSystemUser): Promise<string> {
  const data = join(path, "data");
  await mkdir(data, { mode: 0o700 });
  if (uid !== undefined && gid !== undefined) await chown(data, uid, gid);
  return data;
}

function canReach(path: string, user: OperatingSystemUser): boolean {
  return user.uid === undefined || spawnSync("pwd", { cwd: path, ...user }).status === 0;
}
