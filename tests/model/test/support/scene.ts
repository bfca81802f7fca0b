import { expect } from "vitest";
import { JobNames } from "../../src/job-names.js";
import { isWaiting, openSession, setLockTimeout } from "../../src/session.js";
import type { HeldJob, Step } from "../../src/step.js";
import { claim } from "../../src/steps/worker-steps.js";
import { readLines } from "../../src/table.js";

/** Two sessions, of which the first opens a transaction that the second meets. */
export interface Scene extends AsyncDisposable {
  begin(): Promise<unknown>;
  end(how: "commit" | "rollback"): Promise<unknown>;
  /** A step of the first session. */
  one<T>(step: Step<T>): Promise<T>;
  /** A step of the second session, which has no transaction. */
  two<T>(step: Step<T>): Promise<T>;
  /** Starts a step of the second session that waits for the first one's transaction. */
  twoWaits<T>(step: Step<T>): Promise<{ readonly answer: Promise<T> }>;
  /** What the second session's claim gives the worker. */
  claimed(worker: "w1" | "w2"): Promise<HeldJob[]>;
  /** What is committed, a line for each row. */
  table(): Promise<string[]>;
}

/** A step that waits where it must not fails, and lets go of what the next test needs. */
const longestWaitMs = 10_000;

export async function openScene(url: string): Promise<Scene> {
  const names = new JobNames();
  const [first, second, observer] = await Promise.all([openSession(url), openSession(url), openSession(url)]);
  await setLockTimeout(second, longestWaitMs);
  const two = <T>(step: Step<T>) => step.perform(second, names);
  return {
    begin: () => first.query("begin"),
    end: (how) => first.query(how),
    one: (step) => step.perform(first, names),
    two,
    async twoWaits(step) {
      const answer = two(step);
      expect(await isWaiting(observer, second, answer)).toBe(true);
      return { answer };
    },
    claimed: async (worker) => (await two(claim(worker, 1))).map((job) => ({ ...job, worker })),
    table: () => readLines(observer, names),
    async [Symbol.asyncDispose]() {
      await Promise.all([first, second, observer].map((session) => session[Symbol.asyncDispose]()));
    },
  };
}
