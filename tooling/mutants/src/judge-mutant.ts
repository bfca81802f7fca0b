import { readTests, readTroubles } from "./test-report.js";
import type { VitestRun } from "./run-vitest.js";

/** What became of a mutant. */
export type Verdict =
  | { readonly type: "killed"; readonly by: readonly string[] }
  /** Every test is green: a hole in the tests. */
  | { readonly type: "survived" }
  /** Something failed, but it proves nothing about the tests. */
  | { readonly type: "unproved"; readonly why: string };

/** The mutant itself is nonsense: such a build is never released, and any test notices. */
const nonsense = [
  /\bSyntaxError\b/,
  /\bReferenceError\b/,
  /syntax error at or near/,
  /column .* does not exist/,
  /missing FROM-clause entry/,
];
const outOfTime = /^(Error: )?(Test|Hook) timed out in \d+ms/;

/** Killed is a mutant only when a test is red, and for what the mutant breaks. */
export function judgeMutant(run: Omit<VitestRun, "seconds">, { isWaiting = false }: { readonly isWaiting?: boolean | undefined }): Verdict {
  if (run.isTimedOut) return unproved("the run was not over in time");
  if (run.report === undefined) return unproved(`the run ended without a report: ${lastLines(run.output)}`);
  if (!run.isSeen) return unproved("no test loads the file");
  const { ran, failed } = readTests(run.report);
  const troubles = readTroubles(run.report);
  if (failed.length === 0 && troubles.length > 0) return unproved(`no test failed, but a file or a hook did: ${troubles.join(" ")}`);
  if (ran === 0) return unproved("no test was run");
  if (failed.length === 0) return { type: "survived" };
  const right = failed.filter(({ messages }) => !messages.some((message) => nonsense.some((pattern) => pattern.test(message))));
  if (right.length === 0) return unproved(`the mutant is nonsense: ${firstLine(failed[0]?.messages)}`);
  const proved = isWaiting ? right : right.filter(({ messages }) => !messages.every((message) => outOfTime.test(message)));
  if (proved.length === 0) return unproved(`the tests only ran out of time: ${right[0]?.name}`);
  return { type: "killed", by: proved.map(({ name }) => name) };
}

function unproved(why: string): Verdict {
  return { type: "unproved", why };
}

function firstLine(messages: readonly string[] | undefined): string {
  return messages?.[0]?.split("\n")[0] ?? "";
}

function lastLines(output: string): string {
  return output.trim().split("\n").slice(-5).join(" ");
}
