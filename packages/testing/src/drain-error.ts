import { QueueError } from "@queue/core";

/** An attempt that failed while `drain` worked. */
export interface FailedAttempt {
  readonly id: string;
  readonly kind: string;
  /** From 1. */
  readonly attempt: number;
  /** What the handler threw, or a `QueueError` that says what else ended the attempt: a timeout, a stored payload that no longer parses. */
  readonly error: unknown;
  /** No attempt is left, or the error was permanent: the job is a dead letter. */
  readonly isDead: boolean;
}

/**
 * Handlers failed while `drain` worked. The message names each failed attempt; `cause` is the first error, `errors` are all, in the
 * order they came, as in an `AggregateError`.
 */
export class DrainError extends QueueError {
  readonly failures: readonly FailedAttempt[];
  readonly errors: readonly unknown[];
  /** Of the first failure. */
  readonly jobId: string;
  readonly status: string;

  constructor(failures: readonly [FailedAttempt, ...FailedAttempt[]]) {
    const [first] = failures;
    super("HANDLER_FAILED", toMessage(failures), { cause: first.error });
    this.name = "DrainError";
    this.failures = failures;
    this.errors = failures.map(({ error }) => error);
    this.jobId = first.id;
    this.status = first.isDead ? "dead" : "queued";
  }
}

/** So many are named; the others are in `failures`. */
const mostNamed = 10;

function toMessage(failures: readonly FailedAttempt[]): string {
  const lines = failures.slice(0, mostNamed).map(toLine);
  if (failures.length > mostNamed) lines.push(`and ${failures.length - mostNamed} more, see failures`);
  const count = failures.length === 1 ? "1 attempt" : `${failures.length} attempts`;
  return `${count} failed while drain worked. To let jobs fail, as for a test of retries, give drain { failures: "allow" }.\n${lines
    .map((line) => `  ${line}`)
    .join("\n")}`;
}

function toLine({ kind, id, attempt, error, isDead }: FailedAttempt): string {
  return `${JSON.stringify(kind)}, job ${id}, attempt ${attempt}${isDead ? ", now dead" : ""}: ${describe(error)}`;
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
