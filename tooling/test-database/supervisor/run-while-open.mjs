/**
 * Runs a program for as long as its own standard input stays open, then ends it and removes a folder. Whoever starts this
 * holds the other end of that pipe, and the system closes it however that process ends: by itself, by ctrl-C, or killed.
 *
 * Plain JavaScript, so that the tests can start it before anything is built.
 */
import { spawn } from "node:child_process";
import { rmSync } from "node:fs";

const { program, args, cwd, uid, gid, folder, graceMs } = JSON.parse(process.argv[2]);

// The pipe decides, not a signal that was meant for the owner, which may use the program until it is done itself.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
// The owner may be gone, and nobody is left to read.
process.stderr.on("error", () => {});

const child = spawn(program, args, { cwd, uid, gid, stdio: ["ignore", "ignore", "inherit"] });
child.on("error", (error) => {
  console.error(`${program} did not start: ${error.message}`);
  finish(1);
});
child.on("exit", (code) => finish(code ?? 1));

// An owner that is killed may break the pipe instead of ending it: both close it.
process.stdin.on("error", () => {});
process.stdin.on("close", () => {
  child.kill("SIGINT");
  setTimeout(() => child.kill("SIGQUIT"), graceMs).unref();
});
process.stdin.resume();

function finish(code) {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  process.exitCode = code;
  // The pipe is all that this process waits for.
  process.stdin.destroy();
}
