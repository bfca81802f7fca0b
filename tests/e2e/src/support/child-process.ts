import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** What a process has told, and when it was heard. */
export interface Heard {
  readonly what: string;
  readonly at: number;
  readonly [detail: string]: unknown;
}

/** A process of its own, which is killed when the test has ended. */
export interface Child {
  readonly pid: number;
  readonly heard: readonly Heard[];
  of(what: string): Heard[];
  /** Resolves to the `count`-th of what it tells, of those that match; rejects when it does not come in time. */
  until(what: string, matches?: object, count?: number): Promise<Heard>;
  signal(name: NodeJS.Signals): void;
  tell(line: string): void;
  /** Resolves when it has ended, to how. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null; readonly at: number }>;
  /** What it wrote to standard error: nothing, when all is well. */
  readonly complaints: () => string;
}

const deadlineMs = 15_000;

/** Runs a script of `src/processes`, as the build made it. */
export function startChild(script: string, env: Readonly<Record<string, string>>): Child {
  const path = builtScript(script);
  const onKysely029 = process.env["KYSELY"] === "0.29";
  const child = spawn(process.execPath, [...(onKysely029 ? ["--import", builtScript("kysely-029")] : []), path], {
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const heard: Heard[] = [];
  const waiting = new Set<() => void>();
  let complaints = "";
  createInterface({ input: child.stdout }).on("line", (line) => {
    heard.push({ ...(JSON.parse(line) as Heard), at: performance.now() });
    for (const check of waiting) check();
  });
  child.stderr.on("data", (data: Buffer) => (complaints += data.toString()));
  const ended = whenEnded(child);
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });

  return {
    pid: child.pid ?? Number.NaN,
    heard,
    ended,
    complaints: () => complaints,
    of: (what) => heard.filter((one) => one.what === what),
    signal: (name) => void child.kill(name),
    tell: (line) => void child.stdin.write(`${line}\n`),
    until(what, matches = {}, count = 1) {
      const find = () =>
        heard.filter((one) => one.what === what && Object.entries(matches).every(([key, value]) => one[key] === value))[count - 1];
      return new Promise((resolve, reject) => {
        const check = () => {
          const found = find();
          if (found !== undefined) settle(() => resolve(found));
        };
        const late = setTimeout(() => {
          const told = heard.map((one) => one.what).join(", ");
          settle(() =>
            reject(new Error(`Not within ${deadlineMs} ms: ${what} ${JSON.stringify(matches)}. So far: ${told}\n${complaints}`)),
          );
        }, deadlineMs);
        const settle = (how: () => void) => {
          clearTimeout(late);
          waiting.delete(check);
          how();
        };
        waiting.add(check);
        check();
      });
    },
  };
}

function builtScript(name: string): string {
  const path = fileURLToPath(new URL(`../../dist/processes/${name}.js`, import.meta.url));
  if (!existsSync(path)) throw new Error(`${path} is not there: \`npm run build\` makes it.`);
  return path;
}

async function whenEnded(child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null; at: number }> {
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  return { code, signal, at: performance.now() };
}
