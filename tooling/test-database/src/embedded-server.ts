import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { createCluster } from "./create-cluster.js";
import { freePort } from "./free-port.js";
import { databaseUser } from "./operating-system-user.js";
import { usableBinaries } from "./postgres-binaries.js";
import { createServerFolder } from "./server-folder.js";
import { serverSettings } from "./server-settings.js";
import { serverVersion } from "./server-version.js";
import { type SupervisedProgram, superviseProgram } from "./supervise-program.js";
import type { TestServer } from "./test-server.js";

/** A server that this process started. */
export interface EmbeddedServer extends TestServer {
  /** All that it writes is in here; gone after `stop()`. */
  readonly folder: string;
  /**
   * Stops the server and starts it again, on the same port with the same data. `fast` ends its sessions and writes everything
   * out; `immediate` is a crash: the next start recovers from the WAL. Resolves when it takes connections again.
   */
  restart(mode: "fast" | "immediate"): Promise<void>;
}

const readyMessage = "database system is ready to accept connections";

/** Somebody else may take the port between the look and the start. */
const portAttempts = 5;

export interface EmbeddedServerOptions {
  /** Server parameters instead of those that suit tests: a benchmark wants `fsync` on. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /** Another PostgreSQL: the folder in whose `bin` its programs are. @default that of the npm package */
  readonly installation?: string | undefined;
}

/** Starts PostgreSQL in a temporary folder on a free port. `TEST_DATABASE_URL` changes nothing here. */
export async function startEmbeddedServer(options: EmbeddedServerOptions = {}): Promise<EmbeddedServer> {
  for (let attempt = 1; ; attempt++) {
    const started = await startOnce(options);
    if ("server" in started) return started.server;
    if (attempt === portAttempts || !started.log.includes("could not bind")) throw new Error(`PostgreSQL did not start:\n${started.log}`);
  }
}

async function startOnce({
  settings,
  installation,
}: EmbeddedServerOptions): Promise<{ readonly server: EmbeddedServer } | { readonly log: string }> {
  const user = await databaseUser();
  const folder = await createServerFolder(user);
  try {
    const binaries = await usableBinaries({ user, folder: folder.path, native: installation });
    const password = randomBytes(16).toString("hex");
    await createCluster({ binaries, folder, user, password });
    const port = await freePort();
    const program = superviseProgram({
      program: binaries.postgres,
      args: ["-D", folder.data, "-p", String(port), ...serverSettings(settings)],
      cwd: folder.data,
      user,
      folder: folder.path,
    });
    const log = await program.logUntil(readyMessage);
    if (log !== undefined) return { log };
    const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
    return { server: await serverOf(url, folder.path, program) };
  } catch (error) {
    await rm(folder.path, { recursive: true, force: true });
    throw error;
  }
}

async function serverOf(url: string, folder: string, program: SupervisedProgram): Promise<EmbeddedServer> {
  const stop = () => program.end();
  const restart = (mode: "fast" | "immediate") => program.restart(mode === "fast" ? "SIGINT" : "SIGQUIT", readyMessage);
  return { url, version: await serverVersion(url), folder, restart, stop, [Symbol.asyncDispose]: stop };
}
