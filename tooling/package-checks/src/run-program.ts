import { spawn } from "node:child_process";

/** How a program ended. */
export interface ProgramResult {
  readonly status: number;
  readonly stdout: string;
  /** Both streams, in the order they were written. */
  readonly output: string;
}

export interface ProgramOptions {
  /** Added to those of this process. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** After this many milliseconds it is killed, and its status is 1. @default never */
  readonly limitMs?: number | undefined;
}

/** Runs a program to its end; a status other than 0 is a result. */
export async function runProgram(
  program: string,
  args: readonly string[],
  cwd: string,
  { environment = {}, limitMs }: ProgramOptions = {},
): Promise<ProgramResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0", ...environment },
      ...(limitMs === undefined ? {} : { timeout: limitMs, killSignal: "SIGKILL" }),
    });
    let stdout = "";
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      output += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    child.on("error", reject);
    child.on("close", (status, signal) => {
      if (signal !== null) output += `\nIt was ended by ${signal}.`;
      resolve({ status: status ?? 1, stdout, output });
    });
  });
}

/** Runs npm to its end. @throws Error with what it said when it failed */
export async function runNpm(args: readonly string[], cwd: string): Promise<string> {
  const { status, stdout, output } = await runProgram("npm", args, cwd);
  if (status !== 0) throw new Error(`npm ${args.join(" ")} ended with ${status}:\n${output}`);
  return stdout;
}
