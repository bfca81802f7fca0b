/**
 * Runs a program for as long as its own standard input stays open, then ends it and removes a folder. Whoever starts this
 * holds the other end of that pipe, and the system closes it however that process ends: by itself, by ctrl-C, or killed.
 * A line with a signal's name on that input sends it to the program, which is started again when it has ended.
 *
 * Plain JavaScript, so that the tests can start it before anything is built.
 */
import { spawn } from "node:child_process";
import { rmSync } from "node:fs";

const { program, args, cwd, uid, gid, folder, graceMs, endSignal = "SIGINT" } = JSON.parse(process.argv[2]);

// The pipe decides, not a signal that was meant for the owner, which may use the program until it is done itself.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
// The owner may be gone, and nobody is left to read.
process.stderr.on("error", () => {});

let isEnding = false;
let isRestarting = false;
let child = start();

function start() {
  const started = spawn(program, args, { cwd, uid, gid, stdio: ["ignore", "ignore", "inherit"] });
  started.on("error", (error) => {
    console.error(`${program} did not start: ${error.message}`);
    finish(1);
  });
  started.on("exit", (code) => {
    if (isRestarting && !isEnding) {
      isRestarting = false;
      child = start();
    } else {
      finish(code ?? 1);
    }
  });
  return started;
}

// An owner that is killed may break the pipe instead of ending it: both close it.
process.stdin.on("error", () => {});
process.stdin.on("close", () => {
  isEnding = true;
  child.kill(endSignal);
  setTimeout(() => child.kill("SIGQUIT"), graceMs).unref();
});
process.stdin.setEncoding("utf8").on("data", (lines) => {
  for (const signal of lines.split("\n").filter((line) => line !== "")) {
    isRestarting = true;
    child.kill(signal);
  }
});

function finish(code) {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  process.exitCode = code;
  // The pipe is all that this process waits for.
  process.stdin.destroy();
}
