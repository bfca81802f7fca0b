import { stripVTControlCharacters } from "node:util";

/** The part that counts of what vitest's JSON reporter writes. */
export interface TestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: "passed" | "failed" | "skipped" | "pending" | "todo";
      readonly failureMessages: readonly string[] | null;
    }[];
  }[];
}

/** A test that is red. */
export interface FailedTest {
  /** The path of its file. */
  readonly file: string;
  readonly name: string;
  readonly messages: readonly string[];
}

/** How many tests ran, and which are red. */
export function readTests({ testResults }: TestReport): { readonly ran: number; readonly failed: readonly FailedTest[] } {
  const tests = testResults.flatMap(({ name, assertionResults }) => assertionResults.map((result) => ({ ...result, file: name })));
  return {
    ran: tests.filter(({ status }) => status === "passed" || status === "failed").length,
    failed: tests
      .filter(({ status }) => status === "failed")
      .map(({ file, fullName, failureMessages }) => ({ file, name: fullName, messages: failureMessages ?? [] })),
  };
}

/** What went wrong outside of a test: in a file that does not load, or in a hook. */
export function readTroubles({ testResults }: TestReport): readonly string[] {
  return testResults.flatMap(({ name, message }) => (message === "" ? [] : [`${name}: ${stripVTControlCharacters(message)}`]));
}
