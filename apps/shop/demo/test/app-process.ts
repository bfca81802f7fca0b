import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, expect } from "vitest";

export type AppName = "api" | "worker" | "demo";

export interface AppOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** An app of the shop in a process of its own, as its users start it. */
export interface AppProcess {
  /** What it has printed. */
  output(): string;
  /** Resolves to the first match in what it prints. Rejects when it ends before. */
  printed(pattern: RegExp): Promise<RegExpMatchArray>;
  signal(name: "SIGTERM" | "SIGINT"): void;
  /** The exit code; null when a signal ended it. */
  readonly exitCode: Promise<number | null>;
}

const running = new Set<() => void>();
afterEach(() => {
  for (const kill of running) kill();
});

/** Starts the built app. It is killed after the test, if it is still there. */
export function startApp(name: AppName, { args = [], env = {} }: AppOptions = {}): AppProcess {
  const main = fileURLToPath(new URL(`../../${name}/dist/main.js`, import.meta.url));
  if (!existsSync(main)) throw new Error(`${main} is not there: npm run build`);
  const { DATABASE_URL: _url, PORT: _port, ...inherited } = process.env;
  const child = spawn(process.execPath, [main, ...args], { env: { ...inherited, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  const kill = () => child.kill("SIGKILL");
  running.add(kill);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => {
      output += text;
    });
  }
  let hasEnded = false;
  const exitCode = once(child, "close").then(([code]) => {
    hasEnded = true;
    running.delete(kill);
    return code as number | null;
  });
  return {
    output: () => output,
    async printed(pattern) {
      await expect.poll(() => hasEnded || pattern.test(output), { timeout: 25_000 }).toBe(true);
      const match = output.match(pattern);
      if (match === null) throw new Error(`${name} ended without printing ${pattern}:\n${output}`);
      return match;
    },
    signal: (signal) => void child.kill(signal),
    exitCode,
  };
}
