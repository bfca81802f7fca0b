import { execFile } from "node:child_process";

/**
 * Runs `bin/tsc` of a TypeScript and resolves to what it printed. That it exits with an error because there are errors in the program
 * is an answer; anything else rejects.
 */
export function runCompiler(tsc: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [tsc, ...args], { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (error !== null && error.code !== 1 && error.code !== 2) reject(new Error(`${tsc} failed: ${stderr}`, { cause: error }));
      else resolve(stdout);
    });
  });
}
