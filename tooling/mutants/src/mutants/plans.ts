import { coreTest } from "../killers.js";
import type { Mutant } from "../mutant.js";

const keptPlans = "packages/core/src/functions/kept-plans.ts";
const planKeeper = "packages/core/src/functions/plan-keeper.ts";
const planKeeperTest = coreTest("functions/plan-keeper");

/** Statements that a session plans once. */
export const planMutants: readonly Mutant[] = [
  {
    name: "plan-of-an-empty-table",
    breaks: "A plan that was made while the queue was empty reads no whole table when it is full.",
    file: keptPlans,
    find: 'enable_seqscan: "off", ',
    replace: "",
    killers: [coreTest("functions/kept-plans")],
    tests: "plan for a full table also while it is empty",
  },
  {
    name: "call-with-its-columns-unnamed",
    breaks: "A call answers with the columns of its statement, through drivers that change names, too.",
    file: keptPlans,
    find: 'select ${Object.keys(answer).map(quoteIdentifier).join(", ")} from',
    replace: "select * from",
    killers: [coreTest("functions/kept-plans")],
    tests: "name the columns of their answers",
  },
  {
    name: "dropped-function-is-the-end",
    breaks: "Who calls a function that somebody has dropped sends the statement instead.",
    file: planKeeper,
    find: "if (!notCallable.has(sqlStateOf(error))) throw error;",
    replace: "throw error;",
    killers: [planKeeperTest],
    tests: "sends the statement when the function cannot be called any more",
  },
  {
    name: "plans-dropped-at-once",
    breaks: "A migration leaves the functions that processes of the edition before still call in transactions.",
    file: "packages/core/src/functions/install-functions.ts",
    find: "${marker} < latest",
    replace: "true",
    killers: [coreTest("functions/editions")],
    tests: "that keep plans stay until the next one",
  },
  {
    name: "any-error-sends-again",
    breaks: "A statement that may have done its work is not sent a second time.",
    file: planKeeper,
    find: "if (!notCallable.has(sqlStateOf(error))) throw error;",
    replace: "",
    killers: [planKeeperTest],
    tests: "leaves every other error to who asked",
  },
];
