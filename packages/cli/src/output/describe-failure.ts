import { QueueError } from "@queue/core";
import { sqlStateOf } from "@queue/core/adapter";
import { exitCode } from "./exit-code.js";
import { UsageError } from "./usage-error.js";
import { visible } from "./visible.js";

/** What a person or a script is told of an error. */
export interface Failure {
  /** A `QueueError`'s code, `USAGE`, a SQLSTATE, or what Node calls it. */
  readonly code: string;
  /** One clear sentence, without a stack. */
  readonly message: string;
  readonly exitCode: number;
}

/** Mistakes of who called; all other errors of the queue are answers. */
const mistakes: ReadonlySet<string> = new Set(["INVALID_OPTION", "INVALID_PAYLOAD", "UNKNOWN_KIND"]);

export function describeFailure(error: unknown): Failure {
  if (error instanceof UsageError) return { code: "USAGE", message: visible(error.message), exitCode: exitCode.usage };
  if (QueueError.is(error)) {
    return {
      code: error.code,
      message: visible(error.message),
      exitCode: mistakes.has(error.code) ? exitCode.usage : exitCode.failed,
    };
  }
  const innermost = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  const message = innermost instanceof Error ? innermost.message : String(innermost);
  const state = sqlStateOf(innermost);
  const code = state ?? nodeCode(innermost) ?? "FAILED";
  return {
    code,
    message: state === undefined ? visible(message) : `The database says: ${visible(message)}`,
    exitCode: exitCode.failed,
  };
}

function nodeCode(error: unknown): string | undefined {
  return typeof error === "object" && error !== null && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
