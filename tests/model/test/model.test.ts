/**
 * Random commands from three connections, each run against the database and against the model, which must give the same
 * answers and the same tables, to everybody and inside of the transactions that are open. At the end everything is worked, and
 * every job that was ever committed has ended, once.
 *
 * Transactions stay open across the commands of others. A command that finds a row locked either skips it or waits, and the
 * model says which: it must not wait when the model does not say so, and must when it does. One that waits is seen waiting in
 * pg_stat_activity; then the transaction that it waits for is ended, as the sequence says (committed, rolled back, or rolled back
 * to its savepoint), and the command has to give the answer that it would have given had it been sent only then. Nothing else
 * happens while it waits. Where that is not so after a commit, because one statement judges some rows before the wait and some
 * after it (a batch, and what `canWait` in src/steps names), the other transaction is rolled back. A redrive of several jobs,
 * which chooses them before the wait, is left out where it would wait.
 *
 * The seed is printed; a failure is shrunk, and names what happened step by step. MODEL_SEED=n MODEL_RUNS=n repeats and prolongs.
 */
import { useTestDatabase } from "@queue/test-database";
import fc from "fast-check";
import { test } from "vitest";
import { commands } from "../src/commands.js";
import { drain } from "../src/drain.js";
import { Run } from "../src/run.js";

const database = useTestDatabase();
const numRuns = Number(process.env["MODEL_RUNS"] ?? 150);
const seed = Number(process.env["MODEL_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const longest = 120;
/** Also for a long run, and for the shrinking of a failure. */
const timeout = 24 * 3_600_000;

test("what happens to jobs, in any order and on several connections, is what the model says", { timeout }, async () => {
  console.log(`The model test: MODEL_SEED=${seed} MODEL_RUNS=${numRuns}`);
  await using run = await Run.open(database.url);
  await fc.assert(
    fc.asyncProperty(commands(longest), async (sequence) => {
      await run.begin();
      await fc.asyncModelRun(() => ({ model: run.world, real: run }), sequence);
      await drain(run);
    }),
    { seed, numRuns, includeErrorInReport: true },
  );
});
