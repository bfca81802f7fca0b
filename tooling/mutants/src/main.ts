import { startTestServer } from "@queue/test-database";
import { demandGreen } from "./demand-green.js";
import { judgeMutant } from "./judge-mutant.js";
import type { Mutant } from "./mutant.js";
import { mutate } from "./mutate.js";
import { type Options, readOptions, usage } from "./options.js";
import { readSource } from "./repository.js";
import { runVitest } from "./run-vitest.js";
import { type Row, summary, tableHead, tableLine } from "./table.js";

/** One mutant's run, most of which take three seconds. */
const limitMs = 120_000;
/** Faster than a server for each. They leave the databases of their red tests behind, 10 MB each, for as long as it runs. */
const mutantsOfAServer = 20;
/** A test of a mutant that waits for ever is given up after it. */
const patienceMs = 5_000;

try {
  await main(parseOptions());
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}

function parseOptions(): Options {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`, { cause: error });
  }
}

async function main(options: Options): Promise<void> {
  if (options.isList) {
    for (const { name, breaks, killers } of options.mutants) console.log(`${name}\n  ${breaks}\n  ${killers.join(", ")}`);
    return;
  }
  await demandApplicable(options.mutants);
  const startedAt = performance.now();
  await demandGreen(options.mutants);
  if (!options.isJson) console.log(tableHead);
  const rows = await runAll(options);
  if (options.isJson) {
    console.log(
      JSON.stringify(rows.map(({ mutant: { name, breaks, file }, verdict, seconds }) => ({ name, breaks, file, ...verdict, seconds }))),
    );
  } else {
    console.log(`\n${summary(rows, (performance.now() - startedAt) / 1_000)}`);
  }
  if (rows.some(({ verdict }) => verdict.type !== "killed")) process.exitCode = 1;
}

/** All that have to follow their source are named at once, and nothing is run. */
async function demandApplicable(mutants: readonly Mutant[]): Promise<void> {
  const checks = await Promise.allSettled(mutants.map(async (mutant) => mutate(await readSource(mutant.file), mutant)));
  const problems = checks.flatMap((check) => (check.status === "rejected" ? [String(check.reason)] : []));
  if (problems.length > 0) throw new Error(problems.join("\n\n"));
}

async function runAll({ mutants, parallel, isJson }: Options): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const waiting = [...mutants];
  async function work(): Promise<void> {
    while (waiting.length > 0) {
      await using server = await startTestServer();
      for (const mutant of waiting.splice(0, mutantsOfAServer)) {
        const row = await runOne(mutant, server.url);
        rows.push(row);
        if (!isJson) console.log(tableLine(row));
      }
    }
  }
  await Promise.all(Array.from({ length: parallel }, work));
  return rows;
}

async function runOne(mutant: Mutant, serverUrl: string): Promise<Row> {
  const { name, killers, tests, isWaiting } = mutant;
  const firstWithinMs = isWaiting === true ? patienceMs : undefined;
  const run = await runVitest({ mutant: name, files: killers, tests, firstWithinMs, serverUrl, limitMs });
  return { mutant, verdict: judgeMutant(run, mutant), seconds: run.seconds };
}
