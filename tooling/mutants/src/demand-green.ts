import { startTestServer } from "@queue/test-database";
import type { Mutant } from "./mutant.js";
import { repository } from "./repository.js";
import { runVitest, type VitestRun } from "./run-vitest.js";
import { type FailedTest, readTests, readTroubles } from "./test-report.js";

const limitMs = 900_000;

type Killing = Pick<Mutant, "killers" | "tests">;

/**
 * Runs the killers on the sources as they are: what is red already proves nothing about a mutant.
 *
 * @throws Error that names what is red
 */
export async function demandGreen(mutants: readonly Killing[]): Promise<void> {
  const whole = mutants.filter(({ tests }) => tests === undefined);
  const files = new Set(whole.flatMap(({ killers }) => killers));
  const partial = mutants.filter(({ tests, killers }) => tests !== undefined && !killers.every((killer) => files.has(killer)));
  await using server = await startTestServer();
  const problems = [...(await problemsOf(whole, server.url)), ...(await problemsOf(partial, server.url))];
  if (problems.length > 0) {
    throw new Error(`Without a mutant every test must be green, but is not:\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
  }
}

async function problemsOf(mutants: readonly Killing[], serverUrl: string): Promise<readonly string[]> {
  if (mutants.length === 0) return [];
  const files = [...new Set(mutants.flatMap(({ killers }) => killers))];
  const patterns = new Set(mutants.flatMap(({ tests }) => (tests === undefined ? [] : [`(${tests})`])));
  const tests = patterns.size === 0 ? undefined : [...patterns].join("|");
  return problemsIn(await runVitest({ files, tests, serverUrl, limitMs }), mutants);
}

function problemsIn({ report, isTimedOut, output }: Omit<VitestRun, "seconds" | "isSeen">, mutants: readonly Killing[]): readonly string[] {
  if (isTimedOut) return [`not over within ${limitMs / 1_000} s`];
  if (report === undefined) return [output.trim()];
  const { ran, failed } = readTests(report);
  const red = failed.filter((test) => mutants.some((mutant) => isKiller(mutant, test)));
  const problems = [...red.map(({ name, messages }) => `${name}\n    ${messages[0]?.split("\n")[0] ?? ""}`), ...readTroubles(report)];
  return ran === 0 ? [`no test was run: ${output.trim()}`, ...problems] : problems;
}

/** All mutants' files and patterns are run together, so a pattern has run in files of other mutants, too. */
function isKiller({ killers, tests }: Killing, { file, name }: FailedTest): boolean {
  return killers.some((killer) => file.startsWith(`${repository}/${killer}`)) && (tests === undefined || new RegExp(tests).test(name));
}
