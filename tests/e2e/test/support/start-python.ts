import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** How a test wants the Python process to be: a worker, or a producer. */
export interface PythonSettings {
  readonly url: string;
  /** In seconds. */
  readonly lease?: number;
  readonly poll?: number;
  /** The beginning of its entries: it produces, and works at nothing. */
  readonly produces?: string;
  readonly transactions?: number;
}

interface Told {
  readonly what: string;
  readonly pid: number;
  readonly id?: string;
  readonly attempt?: number;
}

export interface PythonProcess {
  readonly pid: number;
  readonly told: readonly Told[];
  /** Resolves to the first of what it tells that matches; rejects when it ends before. */
  until(what: string, matches?: Partial<Told>): Promise<Told>;
  signal(name: NodeJS.Signals): void;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  /** What it wrote to standard error: nothing, when all is well. */
  readonly complaints: () => string;
}

/** Debian installs psycopg for its own Python, which may not be the first. */
const places = ["python3", "/usr/bin/python3"];

/** A Python that has psycopg 3: the one that the environment variable `PYTHON` names, or an installed one; undefined when there is none. */
export function findPython(): string | undefined {
  const named = process.env["PYTHON"];
  return (named === undefined || named === "" ? places : [named]).find(
    (path) => spawnSync(path, ["-c", "import psycopg; assert psycopg.__version__ >= '3'"]).status === 0,
  );
}

/** Runs `work.py`, which is killed when the test has ended. */
export function startPython(python: string, settings: PythonSettings): PythonProcess {
  const child = spawn(python, ["-B", fileURLToPath(new URL("work.py", import.meta.url))], {
    env: { ...process.env, E2E_PYTHON: JSON.stringify({ lease: 30, poll: 60, ...settings }) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const told: Told[] = [];
  const waiting = new Set<() => void>();
  let complaints = "";
  const ended = whenEnded(child);
  createInterface({ input: child.stdout }).on("line", (line) => {
    told.push(JSON.parse(line) as Told);
    for (const look of waiting) look();
  });
  child.stderr.on("data", (data: Buffer) => (complaints += data.toString()));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return {
    pid: child.pid ?? Number.NaN,
    told,
    ended,
    complaints: () => complaints,
    signal: (name) => void child.kill(name),
    until: (what, matches = {}) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = told.find(
            (one) => one.what === what && Object.entries(matches).every(([key, value]) => one[key as keyof Told] === value),
          );
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
        void ended.then(() => reject(new Error(`It ended before it told ${what}.\n${complaints}`)));
      }),
  };
}

async function whenEnded(child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  return { code, signal };
}
