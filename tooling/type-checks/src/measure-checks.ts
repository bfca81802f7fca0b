import type { Compiler } from "./find-compilers.js";
import { generatePayloads, generateQueue, type PayloadStyle } from "./generate-queue.js";
import { programFolder } from "./program-folder.js";
import { runCompiler } from "./run-compiler.js";

/** What one TypeScript takes, in seconds of its whole run, as medians. */
export interface Figures {
  readonly version: string;
  /** With the payloads beside an empty queue. */
  readonly emptySeconds: number;
  /** With a kind for each of them, enqueued and handled. */
  readonly fullSeconds: number;
}

/**
 * Checks an empty queue and one of `kinds` kinds, in turn, `rounds` times with each compiler, against the built packages.
 *
 * @throws Error when a program has type errors: a figure of a broken program means nothing
 */
export async function measureChecks(
  compilers: readonly Compiler[],
  { kinds, rounds, style }: { readonly kinds: number; readonly rounds: number; readonly style: PayloadStyle },
): Promise<Figures[]> {
  await using empty = await programFolder(generatePayloads(kinds, style), "built");
  await using full = await programFolder(generateQueue(kinds, style), "built");
  const runs = compilers.map(({ version, tsc }) => ({ version, tsc, empty: [] as number[], full: [] as number[] }));
  for (let round = 0; round < rounds; round++) {
    for (const run of runs) {
      run.empty.push(await secondsOf(run.tsc, empty.path));
      run.full.push(await secondsOf(run.tsc, full.path));
    }
  }
  return runs.map((run) => ({ version: run.version, emptySeconds: median(run.empty), fullSeconds: median(run.full) }));
}

async function secondsOf(tsc: string, folder: string): Promise<number> {
  const begun = performance.now();
  const output = await runCompiler(tsc, ["--project", folder, "--pretty", "false"]);
  const seconds = (performance.now() - begun) / 1_000;
  if (output !== "") throw new Error(`The program has type errors:\n${output}`);
  return seconds;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}
