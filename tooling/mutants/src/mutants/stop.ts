import { workerTest } from "../killers.js";
import type { Mutant } from "../mutant.js";

const session = "packages/worker/src/lifecycle/session.ts";

/** What a stop waits for, and what it gives back. */
export const stopMutants: readonly Mutant[] = [
  {
    name: "stop-without-waiting-for-handlers",
    breaks: "A stop lets running handlers finish, for as long as its grace.",
    file: session,
    find: "let isClean = await this.#whenEmptyWithin(Math.max(0, endsAtMs - this.#clock.now()));",
    replace: "let isClean = await this.#whenEmptyWithin(0);",
    killers: [workerTest("stop-waits")],
    tests: "within its grace",
  },
  {
    name: "stop-without-draining",
    breaks: "A stop gives back what does not end, also when the database refuses that at first.",
    file: session,
    find: "await inTime(settler.drain());",
    replace: "",
    killers: [workerTest("stop-waits")],
    tests: "given back",
  },
  {
    name: "stop-without-abort",
    breaks: "A handler that outlasts the grace has its signal aborted.",
    file: session,
    find: "this.#services.flow.abortAll();",
    replace: "",
    killers: [workerTest("stop")],
    tests: "signal aborted at its end",
  },
  {
    name: "stop-without-giving-back",
    breaks: "A job whose handler ignores the stop is given back, and another worker starts it at once.",
    file: session,
    find: "if (!isClean) this.#services.flow.releaseAll();",
    replace: "",
    killers: [workerTest("stop")],
    tests: "loses its job",
  },
  {
    name: "stop-rings-for-nobody",
    breaks: "What a stop gives back is begun by another worker that sleeps, at once.",
    file: session,
    find: "flow.hasGivenBack ? this.#attempt(() => this.#services.ringOthers()) : undefined",
    replace: "undefined",
    killers: [workerTest("given-back")],
    tests: "it is rung",
  },
  {
    name: "claim-begun-after-the-stop",
    breaks: "What a claim brings that was under way when the stop began is given back, with its attempt.",
    file: "packages/worker/src/run/job-flow.ts",
    find: 'if (isStopping()) this.#handOver(attempt, { type: "released", isAttemptSpent: false }); else void this.#run(attempt);',
    replace: "void this.#run(attempt);",
    killers: [workerTest("stop")],
    tests: "B90",
  },
  {
    name: "stop-kills-the-last-attempt",
    breaks: "A deploy is no reason for a job to die.",
    file: "packages/worker/src/settle/to-requeue.ts",
    find: "outcome.isAttemptSpent && attempt < maxAttempts ? 0 : 1",
    replace: "outcome.isAttemptSpent ? 0 : 1",
    killers: ["packages/worker/src/settle/to-requeue.test.ts", workerTest("stop")],
    tests: "toRequeue|on its last attempt",
  },
  {
    name: "stop-leaves-its-timer",
    breaks: "A worker that has stopped has no timer left.",
    file: "packages/worker/src/fetch/lookout.ts",
    find: "this.#timer?.cancel();",
    replace: "",
    killers: ["packages/worker/src/fetch/lookout.test.ts", workerTest("lifecycle")],
    tests: "is forgotten at a stop|has no timer left|none either",
  },
  {
    name: "stop-leaves-its-listener",
    breaks: "A stop leaves no connection and no listener behind.",
    file: session,
    find: "Promise.resolve(this.#subscription?.close()).catch(",
    replace: "Promise.resolve().catch(",
    killers: [workerTest("stop"), workerTest("lifecycle")],
    tests: "no connections|nothing open",
  },
];
