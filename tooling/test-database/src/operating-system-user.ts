import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Whom a child process runs as; empty: as this process does. */
export interface OperatingSystemUser {
  readonly uid?: number;
  readonly gid?: number;
}

/** PostgreSQL refuses to run as root. Root runs it as `postgres`, or as `nobody` where there is no such user. */
export async function databaseUser(): Promise<OperatingSystemUser> {
  if (process.getuid?.() !== 0) return {};
  return (await findUser("postgres")) ?? (await findUser("nobody")) ?? refuseRoot();
}

async function findUser(name: string): Promise<OperatingSystemUser | undefined> {
  const run = promisify(execFile);
  try {
    const [uid, gid] = await Promise.all([run("id", ["-u", name]), run("id", ["-g", name])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    // `id` fails when there is no such user, which is the answer.
    return undefined;
  }
}

function refuseRoot(): never {
  throw new Error(
    "PostgreSQL does not run as root, and this machine has neither a user postgres nor nobody. Run the tests as another user.",
  );
}
