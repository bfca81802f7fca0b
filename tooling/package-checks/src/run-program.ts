import { spawn } from "node:child_process";

/** How a program ended. */
export interface ProgramResult {
  readonly status: number;
  readonly stdout: string;
  /** Both streams, in the order they were written. */
  readonly output: string;
}

/** Runs a program to its end; a status other than 0 is a result. */
export async function runProgram(program: string, args: readonly string[], cwd: string): Promise<ProgramResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0" },
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
    child.on("close", (status) => resolve({ status: status ?? 1, stdout, output }));
  });
}

/** Runs npm to its end. @throws Error with what it said when it failed */
export async function runNpm(args: readonly string[], cwd: string): Promise<string> {
  const { status, stdout, output } = await runProgram("npm", args, cwd);
  if (status !== 0) throw new Error(`npm ${args.join(" ")} ended with ${status}:\n${output}`);
  return stdout;
}
