import type { RunnerTestCase, RunnerTestSuite } from "vitest";

/** Whether a test or a hook of `suite`, or of one inside it, has failed so far. */
export function hasFailed(suite: Readonly<RunnerTestSuite>): boolean {
  return suite.tasks.some((task) => task.result?.state === "fail" || (isSuite(task) && hasFailed(task)));
}

function isSuite(task: RunnerTestCase | RunnerTestSuite): task is RunnerTestSuite {
  return task.type === "suite";
}
