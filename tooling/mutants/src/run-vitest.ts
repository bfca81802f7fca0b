import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { repository } from "./repository.js";
import type { TestReport } from "./test-report.js";

export interface VitestOptions {
  /** The name of a mutant; none: the sources as they are. */
  readonly mutant?: string;
  readonly files: readonly string[];
  /** A regular expression for the full names of tests. */
  readonly tests?: string | undefined;
  /** Ends at the first red test, and gives none longer than this. */
  readonly firstWithinMs?: number | undefined;
  /** The server for the tests. */
  readonly serverUrl: string;
  /** The whole run may take no longer. */
  readonly limitMs: number;
}

export interface VitestRun {
  /** Undefined when vitest did not come to write it. */
  readonly report: TestReport | undefined;
  /** The mutant's file was loaded, and replaced. */
  readonly isSeen: boolean;
  readonly isTimedOut: boolean;
  /** What it printed. */
  readonly output: string;
  readonly seconds: number;
}

/** Loaded by vitest, as it is written. */
const config = fileURLToPath(new URL("../src/mutated.config.ts", import.meta.url));
const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs");

/** Runs tests in a process of their own, and ends that when it takes too long. */
export async function runVitest(options: VitestOptions): Promise<VitestRun> {
  const folder = await mkdtemp(join(tmpdir(), "queue-mutants-"));
  const reportFile = join(folder, "report.json");
  const seenFile = join(folder, "seen");
  const startedAt = performance.now();
  try {
    const { output, isTimedOut } = await run(argumentsOf(options, reportFile), options.limitMs, {
      ...process.env,
      NO_COLOR: "1",
      TEST_DATABASE_URL: options.serverUrl,
      MUTANT_SEEN_FILE: seenFile,
      ...(options.mutant === undefined ? {} : { MUTANT: options.mutant }),
    });
    return {
      report: await readFile(reportFile, "utf8").then(
        (text) => JSON.parse(text) as TestReport,
        () => undefined,
      ),
      isSeen: await readFile(seenFile).then(
        () => true,
        () => false,
      ),
      isTimedOut,
      output,
      seconds: (performance.now() - startedAt) / 1_000,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function argumentsOf({ files, tests, firstWithinMs }: VitestOptions, reportFile: string): string[] {
  const short = firstWithinMs === undefined ? [] : ["--bail=1", `--testTimeout=${firstWithinMs}`, `--hookTimeout=${firstWithinMs}`];
  const place = ["--root", repository, "--config", config];
  const filter = tests === undefined ? [] : ["--testNamePattern", tests];
  return [vitest, "run", ...files, ...place, ...filter, ...short, "--reporter=json", `--outputFile=${reportFile}`];
}

function run(args: readonly string[], limitMs: number, env: NodeJS.ProcessEnv): Promise<{ output: string; isTimedOut: boolean }> {
  return new Promise((resolve, reject) => {
    // A group of its own, so that what the tests have started ends with it.
    const child = spawn(process.execPath, args, { cwd: repository, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
    const endGroup = () => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
    };
    let output = "";
    let isTimedOut = false;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    }
    const timer = setTimeout(() => {
      isTimedOut = true;
      endGroup();
    }, limitMs);
    const forget = onEnd(endGroup);
    child.on("error", reject);
    child.on("close", () => {
      clearTimeout(timer);
      forget();
      resolve({ output, isTimedOut });
    });
  });
}

/** Calls `end` when this process is about to end, by itself or by a signal, until the result is called. */
function onEnd(end: () => void): () => void {
  const onSignal = (signal: NodeJS.Signals) => {
    end();
    process.kill(process.pid, signal);
  };
  process.once("exit", end).once("SIGINT", onSignal).once("SIGTERM", onSignal);
  return () => void process.off("exit", end).off("SIGINT", onSignal).off("SIGTERM", onSignal);
}
