import { inspect } from "node:util";

/** What is stored of a failure: plain text that PostgreSQL takes, 6 KiB at most. */
export interface StoredError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
}

const longestName = 200;
const longestMessage = 2_048;
const longestStack = 3_800;

/**
 * Whatever a handler threw as text. It cannot fail: an error in the failure path would leave the job running for ever. NUL and
 * half surrogates, which PostgreSQL refuses, become U+FFFD. Properties of an error (requests, sockets, headers) are not
 * stored; its causes are, by their messages.
 */
export function describeThrown(thrown: unknown): StoredError {
  try {
    return thrown instanceof Error ? describeError(thrown) : { name: "NonError", message: describeValue(thrown) };
  } catch {
    return { name: "NonError", message: "Non-error thrown: a value that cannot be shown" };
  }
}

function describeError(error: Error): StoredError {
  const name = clean(String(error.name || "Error"), longestName);
  const message = clean(String(error.message), longestMessage);
  const causes = causesOf(error).map((cause) => `\nCaused by: ${cause}`);
  return {
    name,
    message: message === "" ? name : message,
    stack: clean(`${typeof error.stack === "string" ? error.stack : ""}${causes.join("")}`, longestStack),
  };
}

function causesOf(error: Error): string[] {
  const texts: string[] = [];
  const seen = new Set<unknown>([error]);
  for (let cause = error.cause; cause !== undefined && !seen.has(cause) && texts.length < 4; ) {
    seen.add(cause);
    texts.push(cause instanceof Error ? `${cause.name}: ${clean(String(cause.message), 300)}` : describeValue(cause));
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return texts;
}

function describeValue(value: unknown): string {
  if (typeof value === "string") return value === "" ? 'Non-error thrown: ""' : clean(value, longestMessage);
  const shown = typeof value === "object" && value !== null ? inspect(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY }) : String(value);
  return clean(`Non-error thrown: ${shown}`, longestMessage);
}

/** At most `bytes` of UTF-8, cut between characters. */
function clean(text: string, bytes: number): string {
  // oxlint-disable-next-line no-control-regex -- the control character is the point
  const stored = text.slice(0, bytes).replace(/[\u0000\p{Surrogate}]/gu, "\uFFFD");
  if (Buffer.byteLength(stored) <= bytes) return stored;
  return Buffer.from(stored).subarray(0, bytes).toString("utf8").replace(/\uFFFD$/, "");
}
