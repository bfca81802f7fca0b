import { chown, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "./free-port.js";
import { databaseUser, type OperatingSystemUser } from "./operating-system-user.js";
import { findPooler, poolerMissing, type PoolerProgram } from "./pooler-program.js";
import { poolerSettings, poolerUser } from "./pooler-settings.js";
import { createServerFolder } from "./server-folder.js";
import { type SupervisedProgram, superviseProgram } from "./supervise-program.js";

/** A PgBouncer in transaction mode, before all databases of a server. */
export interface Pooler extends AsyncDisposable {
  /** The connection string of the server's database `postgres`, through the pooler. */
  readonly url: string;
  /** Ends it, whoever is connected. Safe twice. */
  stop(): Promise<void>;
}

export interface PoolerOptions {
  /** The server behind it. */
  readonly server: { readonly url: string };
  /** Settings of PgBouncer instead of ours. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
}

const readyMessage = "process up";
/** Somebody else may take the port between the look and the start. */
const portAttempts = 5;

/**
 * Starts PgBouncer in a temporary folder on a free port: transaction mode, two connections to the server for each database,
 * no named statements. It ends with this process, however that ends.
 *
 * @throws Error when PgBouncer is not installed, or does not start
 */
export async function startPooler({ server, settings = {} }: PoolerOptions): Promise<Pooler> {
  const program = findPooler();
  if (program === undefined) throw new Error(poolerMissing);
  for (let attempt = 1; ; attempt++) {
    const started = await startOnce(program, new URL(server.url), settings);
    if ("pooler" in started) return started.pooler;
    if (attempt === portAttempts || !started.log.includes("in use")) throw new Error(`PgBouncer did not start:\n${started.log}`);
  }
}

/** `url`, through the pooler instead of directly. */
export function throughPooler(url: string, pooler: Pick<Pooler, "url">): string {
  const pooled = new URL(url);
  pooled.host = new URL(pooler.url).host;
  return pooled.href;
}

async function startOnce(
  { path, version }: PoolerProgram,
  url: URL,
  overrides: Readonly<Record<string, string>>,
): Promise<{ readonly pooler: Pooler } | { readonly log: string }> {
  // PgBouncer refuses to run as root, as PostgreSQL does.
  const user = await databaseUser();
  const folder = await createServerFolder(user);
  try {
    const port = await freePort();
    const settingsFile = join(folder.data, "pgbouncer.ini");
    const userFile = join(folder.data, "users.txt");
    await writeFor(user, userFile, poolerUser(url));
    await writeFor(user, settingsFile, poolerSettings({ url, port, userFile, version, overrides }));
    const program = superviseProgram({
      program: path,
      args: [settingsFile],
      cwd: folder.data,
      user,
      folder: folder.path,
      // SIGINT waits for clients: an open transaction would keep it.
      endSignal: "SIGTERM",
    });
    const log = await program.logUntil(readyMessage);
    return log === undefined ? { pooler: poolerOf(url, port, program) } : { log };
  } catch (error) {
    await rm(folder.path, { recursive: true, force: true });
    throw error;
  }
}

function poolerOf(server: URL, port: number, program: SupervisedProgram): Pooler {
  const url = new URL(server);
  url.host = `127.0.0.1:${port}`;
  const stop = () => program.end();
  return { url: url.href, stop, [Symbol.asyncDispose]: stop };
}

async function writeFor({ uid, gid }: OperatingSystemUser, path: string, content: string): Promise<void> {
  await writeFile(path, content, { mode: 0o600 });
  if (uid !== undefined && gid !== undefined) await chown(path, uid, gid);
}
