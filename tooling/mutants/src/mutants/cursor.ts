import type { Mutant } from "../mutant.js";

const cursor = "packages/worker/src/fetch/cursor.ts";
const cursorTest = "packages/worker/src/fetch/cursor.test.ts";

/** The claim cursor: a hint, which must pass over nothing for longer than it says. */
export const cursorMutants: readonly Mutant[] = [
  {
    name: "cursor-without-its-ladder",
    breaks: "A job whose transaction was open for long is found within a quarter of that time, although nobody hears of it.",
    file: cursor,
    find: "if (rung < 0) return",
    replace: "if (rung < 10) return",
    killers: [cursorTest],
    tests: "commits late",
  },
  {
    name: "cursor-not-lowered",
    breaks: "A job that is heard of is claimed at once, although the cursor stands above it.",
    file: cursor,
    find: 'if (this.#place !== undefined && at < this.#place.at) this.#place = { at, id: "0" };',
    replace: "",
    killers: [cursorTest],
    tests: "is lowered begins no higher",
  },
  {
    name: "cursor-raised-by-a-claim-that-was-sent-before",
    breaks: "The answer to a claim that was sent before a job was heard of does not raise the cursor above it.",
    file: cursor,
    find: "if (lowering.version > version) floor =",
    replace: "if (lowering.version > Number.POSITIVE_INFINITY) floor =",
    killers: [cursorTest],
    tests: "is not raised by the answer",
  },
  {
    name: "cursor-behind-a-clock-that-was-set-back",
    breaks: "A cursor begins anew when the database's clock was set back.",
    file: cursor,
    find: "if (isSetBack) this.reset();",
    replace: "if (isSetBack) this.#isExact = false;",
    killers: [cursorTest],
    tests: "begins anew when the database's clock",
  },
  {
    name: "cursor-kept-after-a-lost-claim",
    breaks: "After a claim whose answer was lost the next one begins at the beginning: what it had locked, others have passed over.",
    file: "packages/worker/src/fetch/fetcher.ts",
    find: "lines.failed(sent.groups);",
    replace: "",
    killers: ["packages/worker/src/fetch/fetcher-claims.test.ts"],
    tests: "begin everywhere at the beginning",
  },
  {
    name: "cursor-moved-in-a-paused-lane",
    breaks: "What was enqueued into a lane while it was paused is claimed when it is resumed.",
    file: "packages/worker/src/fetch/lines.ts",
    find: " || paused.includes(line.lane)",
    replace: "",
    killers: ["packages/worker/src/fetch/lines.test.ts"],
    tests: "paused",
  },
  {
    name: "left-behind-for-ever",
    breaks: "A job that no claim looks at any more is found by a look behind, and claimed.",
    file: "packages/worker/src/fetch/lookout.ts",
    find: "for (const { lane, priority, run_at } of found) lines.add({ lane, priority }, Number(run_at));",
    replace: "",
    killers: ["packages/worker/src/fetch/lookout.test.ts"],
    tests: "lookBehind looks below",
  },
  {
    name: "late-claims-not-told",
    breaks: "A claim that was given up, and carried out all the same, has what it took given back.",
    file: "packages/worker/src/exchange/exchange.ts",
    find: "database.run(statements.claimJobs, input, claim.onLate)",
    replace: "database.run(statements.claimJobs, input)",
    killers: ["packages/worker/src/exchange/exchange.test.ts"],
    tests: "after it was given up",
  },
  {
    name: "two-statements-on-the-only-connection",
    breaks: "Where everything has one connection, one statement is on its way at a time.",
    file: "packages/worker/src/exchange/exchange.ts",
    find: "database.hasOneConnection ? 1 : mostUnderWay",
    replace: "mostUnderWay",
    killers: ["packages/worker/src/exchange/exchange.test.ts"],
    tests: "where everything has one connection",
  },
];
