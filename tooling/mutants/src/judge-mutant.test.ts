import { describe, expect, test } from "vitest";
import { judgeMutant } from "./judge-mutant.js";
import type { TestReport } from "./test-report.js";

const passed = (fullName: string) => ({ fullName, status: "passed" as const, failureMessages: [] });
const failed = (fullName: string, message: string) => ({ fullName, status: "failed" as const, failureMessages: [message] });

function reportOf(assertionResults: TestReport["testResults"][number]["assertionResults"], message = ""): TestReport {
  return { testResults: [{ name: "claim.test.ts", message, assertionResults }] };
}

function runOf(report: TestReport | undefined, changes: { isSeen?: boolean; isTimedOut?: boolean; output?: string } = {}) {
  return { report, isSeen: true, isTimedOut: false, output: "", ...changes };
}

describe("a mutant", () => {
  test("is killed by the tests that are red", () => {
    const report = reportOf([passed("a claim takes"), failed("a claim skips", "AssertionError: expected 1 to be 2")]);
    expect(judgeMutant(runOf(report), {})).toEqual({ type: "killed", by: ["a claim skips"] });
  });

  test("has survived when all are green", () => {
    expect(judgeMutant(runOf(reportOf([passed("a claim takes")])), {})).toEqual({ type: "survived" });
  });
});

describe("nothing is proved", () => {
  test.each([
    ["when the run is not over in time", runOf(undefined, { isTimedOut: true }), "not over in time"],
    ["when it crashes", runOf(undefined, { output: "one\ntwo" }), "without a report: one two"],
    ["when no test loads the file", runOf(reportOf([passed("a")]), { isSeen: false }), "no test loads the file"],
    ["when no test is run", runOf(reportOf([])), "no test was run"],
    [
      "when a file does not load",
      runOf(reportOf([], "Cannot find module")),
      "no test failed, but a file or a hook did: claim.test.ts: Cannot",
    ],
    ["by code that cannot be", runOf(reportOf([failed("a", "ReferenceError: x is not defined")])), "nonsense: ReferenceError"],
    ["by SQL that cannot be", runOf(reportOf([failed("a", 'error: syntax error at or near "where"\n  at')])), "nonsense: error: syntax"],
    ["by a column that is not there", runOf(reportOf([failed("a", 'error: column "x" does not exist')])), "nonsense: error: column"],
    ["by a test that runs out of its time", runOf(reportOf([failed("a", "Error: Test timed out in 30000ms.\n")])), "ran out of time: a"],
  ])("%s", (_name, run, why) => {
    expect(judgeMutant(run, {})).toEqual({ type: "unproved", why: expect.stringContaining(why) });
  });

  test("unless waiting for ever is what it breaks", () => {
    const report = reportOf([failed("a claim skips", "Error: Test timed out in 10000ms.\n")]);
    expect(judgeMutant(runOf(report), { isWaiting: true })).toEqual({ type: "killed", by: ["a claim skips"] });
  });

  test("by what is red for the wrong reason, and what is red for the right one is named alone", () => {
    const report = reportOf([failed("a", "ReferenceError: x is not defined"), failed("b", "AssertionError: expected 1 to be 2")]);
    expect(judgeMutant(runOf(report), {})).toEqual({ type: "killed", by: ["b"] });
  });
});
