import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { OperatingSystemUser } from "./operating-system-user.js";

export interface SupervisedProgramOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly user: OperatingSystemUser;
  /** Removed when the program has ended. */
  readonly folder: string;
  /** What asks the program to end. @default "SIGINT", on which PostgreSQL ends its sessions first */
  readonly endSignal?: NodeJS.Signals;
}

/** A program that ends with this process, even when this one is killed. */
export interface SupervisedProgram {
  /** Resolves to undefined as soon as the program writes `text` to standard error, or to all it wrote when it ended without. */
  logUntil(text: string): Promise<string | undefined>;
  /** Sends `signal`, and starts the program again when it has ended; resolves when it writes `text`. */
  restart(signal: NodeJS.Signals, text: string): Promise<void>;
  /** Resolves when the program has ended and its folder is gone. Safe twice. */
  end(): Promise<void>;
}

const supervisor = fileURLToPath(new URL("../supervisor/run-while-open.mjs", import.meta.url));
/** How long what is open may delay the end before it is cut. */
const graceMs = 5_000;

/** Starts `program` under a supervisor of its own, see supervisor/run-while-open.mjs. */
export function superviseProgram({ user, ...job }: SupervisedProgramOptions): SupervisedProgram {
  const supervised = spawn(process.execPath, [supervisor, JSON.stringify({ ...job, ...user, graceMs })], {
    stdio: ["pipe", "ignore", "pipe"],
    // A group of its own: ctrl-C in the terminal is for the tests, which still need the program while they stop.
    detached: true,
  });
  const ended = new Promise<void>((resolve, reject) => {
    supervised.once("error", reject);
    supervised.once("exit", () => resolve());
  });
  return {
    logUntil: (text) => logUntil(supervised, ended, text),
    restart: async (signal, text) => {
      const written = logUntil(supervised, ended, text);
      supervised.stdin?.write(`${signal}\n`);
      const log = await written;
      if (log !== undefined) throw new Error(`The program did not start again:\n${log}`);
    },
    end: () => {
      supervised.stdin?.end();
      return ended;
    },
  };
}

async function logUntil({ stderr }: ChildProcess, ended: Promise<void>, text: string): Promise<string | undefined> {
  let log = "";
  const found = new Promise<undefined>((resolve) => {
    const read = (chunk: string) => {
      log += chunk;
      if (!log.includes(text)) return;
      stderr?.off("data", read);
      // Nobody reads what follows, but somebody must take it, or the program blocks on a full pipe.
      stderr?.resume();
      resolve(undefined);
    };
    stderr?.setEncoding("utf8").on("data", read);
  });
  return Promise.race([found, ended.then(() => log)]);
}
