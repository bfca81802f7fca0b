import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { Redis } from "ioredis";

export interface BenchRedis {
  readonly url: string;
  readonly version: string;
  readonly settings: string;
  stop(): Promise<void>;
}

/** As durable as Redis is run by most: an append-only file, written out each second. */
const settings = { appendonly: "yes", appendfsync: "everysec", save: "" };

/** The Redis of `REDIS_URL`, or one that is started for the run when there is a `redis-server`; else none. */
export async function findRedis(): Promise<BenchRedis | undefined> {
  const given = process.env["REDIS_URL"];
  if (given !== undefined && given !== "") {
    const version = await answers(given);
    return version === undefined ? undefined : { url: given, version, settings: "as REDIS_URL has it", stop: async () => {} };
  }
  return (await hasServer()) ? startServer() : undefined;
}

async function hasServer(): Promise<boolean> {
  try {
    await promisify(execFile)("redis-server", ["--version"]);
    return true;
  } catch {
    // Not installed, which is the answer.
    return false;
  }
}

async function startServer(): Promise<BenchRedis | undefined> {
  const folder = await mkdtemp(join(tmpdir(), "queue-bench-redis-"));
  const port = await freePort();
  const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const server = spawn("redis-server", ["--bind", "127.0.0.1", "--port", String(port), "--dir", folder, ...flags], { stdio: "ignore" });
  const url = `redis://127.0.0.1:${port}`;
  const stop = () => stopServer(server, folder);
  for (let attempt = 0; attempt < 50; attempt++) {
    const version = await answers(url);
    if (version !== undefined) return { url, version, settings: "appendonly yes, appendfsync everysec", stop };
    await pause(100);
  }
  await stop();
  return undefined;
}

async function stopServer(server: ChildProcess, folder: string): Promise<void> {
  if (server.exitCode === null && server.signalCode === null) {
    server.kill("SIGTERM");
    await once(server, "exit");
  }
  await rm(folder, { recursive: true, force: true });
}

/** The version of the Redis at `url`, if one answers. */
async function answers(url: string): Promise<string | undefined> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null, connectTimeout: 2_000 });
  client.on("error", () => {});
  try {
    await client.connect();
    return /redis_version:(\S+)/.exec(await client.info("server"))?.[1] ?? "unknown";
  } catch {
    // Nobody answers there, which is the answer.
    return undefined;
  } finally {
    client.disconnect();
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  if (address === null || typeof address === "string") throw new Error(`Expected a TCP address, got ${String(address)}.`);
  return address.port;
}
