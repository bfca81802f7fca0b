import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

/** How a process of the program ended. */
export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  /** What `DATABASE_URL` is; not there when it is left out. */
  readonly url?: string | undefined;
  /** The working folder. @default an empty one */
  readonly cwd?: string | undefined;
  readonly stdin?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Arguments of Node itself. */
  readonly node?: readonly string[] | undefined;
}

/** The program, as the build made it. */
export const program = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

/** Runs `queue` with `args`, as a script would: without a terminal. */
export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  if (!existsSync(program)) throw new Error("@queue/cli is not built: run `npm run build` first.");
  const empty = options.cwd === undefined ? mkdtempSync(join(tmpdir(), "queue-cli-")) : undefined;
  try {
    const child = spawn(process.execPath, [...(options.node ?? []), program, ...args], {
      cwd: options.cwd ?? empty,
      env: environment(options),
      stdio: ["pipe", "pipe", "pipe"],
    });
    child.stdin.end(options.stdin ?? "");
    const code = new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    return { code: await code, stdout, stderr };
  } finally {
    if (empty !== undefined) rmSync(empty, { recursive: true, force: true });
  }
}

/** What the program prints as JSON. */
export async function runJson<T>(
  args: readonly string[],
  options: CliOptions = {},
): Promise<{ readonly code: number | null; readonly json: T }> {
  const { code, stdout } = await runCli([...args, "--json"], options);
  return { code, json: JSON.parse(stdout) as T };
}

/** The environment of the tests, without what decides where the program works and how it looks. */
export function environment({ url, env = {} }: Pick<CliOptions, "url" | "env">): Record<string, string | undefined> {
  const { DATABASE_URL: _url, NO_COLOR: _noColor, FORCE_COLOR: _forceColor, NODE_OPTIONS: _options, ...rest } = process.env;
  return { ...rest, ...(url === undefined ? {} : { DATABASE_URL: url }), ...env };
}
