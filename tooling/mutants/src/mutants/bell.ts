import { coreTest, workerTest } from "../killers.js";
import type { Mutant } from "../mutant.js";

const bell = "packages/worker/src/fetch/bell.ts";
const bellTest = "packages/worker/src/fetch/bell.test.ts";
const armBell = "packages/core/src/store/arm-bell.ts";

/** Who is rung, and that no ring is lost. */
export const bellMutants: readonly Mutant[] = [
  {
    name: "bell-without-settling",
    breaks: "A transaction that looked at the bell before it was armed, and commits after, is not missed.",
    file: bell,
    find: "this.#settle(xid, shortestPollMs);",
    replace: "",
    killers: [bellTest, workerTest("bell")],
    tests: "polls, ever more slowly|before it could be rung",
  },
  {
    name: "bell-settled-by-the-newest",
    breaks: "The newest transaction says nothing about the oldest.",
    file: armBell,
    find: "pg_catalog.pg_snapshot_xmin(",
    replace: "pg_catalog.pg_snapshot_xmax(",
    killers: [coreTest("bell")],
    tests: "is not settled before",
  },
  {
    name: "bell-for-one-sleeper",
    breaks: "Any number of workers may sleep, and each is rung.",
    file: armBell,
    find: "pg_catalog.pg_try_advisory_lock_shared(",
    replace: "pg_catalog.pg_try_advisory_lock(",
    killers: [coreTest("bell")],
    tests: "one of several sleepers",
  },
  {
    name: "bell-of-another-session",
    breaks: "The keys of a bell that could not be armed whole are given back.",
    file: bell,
    find: "if (xid === null) return this.#run(statements.muteBell, {}, () => this.#armLater(againMs), failed);",
    replace: "if (xid === null) return this.#armLater(againMs);",
    killers: [bellTest],
    tests: "gives back what it may hold",
  },
  {
    name: "bell-muted-for-ever",
    breaks: "When little comes, a worker is rung again.",
    file: bell,
    find: "if (isOver && isQuiet) this.#arm();",
    replace: "",
    killers: [bellTest, workerTest("bell")],
    tests: "armed again|mutes the bell",
  },
  {
    name: "bell-never-muted",
    breaks: "At high rates enqueues do not pay for notifications.",
    file: bell,
    find: "window.rings > mostRings",
    replace: "false",
    killers: [bellTest, workerTest("bell")],
    tests: "is muted; the worker polls|mutes the bell",
  },
  {
    name: "muted-and-blind-to-new-lines",
    breaks: "While enqueues do not ring, jobs of a new line and those that become due are found.",
    file: "packages/worker/src/lifecycle/services.ts",
    find: "if (this.fetcher.hasRoom) this.lookout.lookEvery(Math.min(mutedLookMs, options.pollIntervalMs / 2)).catch(onError);",
    replace: "",
    killers: [workerTest("bell")],
    tests: "line that it does not know",
  },
  {
    name: "key-left-behind",
    breaks: "An enqueue holds no key of the bell when it has looked.",
    file: "packages/core/src/migrations/0001-initial.ts",
    find: "then pg_catalog.pg_advisory_unlock(${key}) else false end",
    replace: "then true else false end",
    killers: [coreTest("bell")],
    tests: "leaves no key behind",
  },
];
