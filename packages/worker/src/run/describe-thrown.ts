import { inspect, types } from "node:util";

/** What is stored of a failure: plain text that PostgreSQL takes, 6 KiB at most. */
export interface StoredError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
}

const longestName = 200;
const longestMessage = 2_048;
const longestStack = 3_800;
/** So many causes, and so many errors of one that gathers several. */
const mostOthers = 4;

/**
 * Whatever a handler threw as text. It cannot fail: an error in the failure path would leave the job running for ever. NUL and
 * half surrogates, which PostgreSQL refuses, become U+FFFD. Properties of an error (requests, sockets, headers) are not
 * stored; its causes, and the errors that it gathers, are, by their messages. A part that throws when it is read is left out, and the rest is kept.
 */
export function describeThrown(thrown: unknown): StoredError {
  return isError(thrown) ? describeError(thrown) : { name: "NonError", message: describeValue(thrown) };
}

function describeError(error: Error): StoredError {
  const name = clean(nameOf(error), longestName);
  const gathered = gatheredBy(error);
  const message = clean(messageOf(error) || gathered.join("; "), longestMessage);
  const stack = read(() => error.stack);
  const others = [...gathered.map((one) => `\nOne of: ${one}`), ...causesOf(error).map((cause) => `\nCaused by: ${cause}`)].join("");
  return {
    name,
    message: message === "" ? name : message,
    stack: clean(
      `${clean(typeof stack === "string" ? stack : "", longestStack - Math.min(2_000, Buffer.byteLength(others)))}${others}`,
      longestStack,
    ),
  };
}

/** The first errors of an AggregateError. */
function gatheredBy(error: Error): string[] {
  const errors = read(() => (error as { readonly errors?: unknown }).errors);
  const first = read(() => (Array.isArray(errors) ? (errors.slice(0, mostOthers) as unknown[]) : []));
  return (first ?? []).map(describeBriefly);
}

function describeBriefly(value: unknown): string {
  return isError(value) ? `${nameOf(value)}: ${clean(messageOf(value), 300)}` : describeValue(value);
}

function causesOf(error: Error): string[] {
  const texts: string[] = [];
  const seen = new Set<unknown>([error]);
  for (let cause = read(() => error.cause); cause !== undefined && !seen.has(cause) && texts.length < mostOthers;) {
    const current: unknown = cause;
    seen.add(current);
    texts.push(describeBriefly(current));
    cause = isError(current) ? read(() => current.cause) : undefined;
  }
  return texts;
}

function describeValue(value: unknown): string {
  if (typeof value === "string") return value === "" ? 'Non-error thrown: ""' : clean(value, longestMessage);
  const shown = read(() =>
    typeof value === "object" && value !== null ? inspect(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY }) : String(value),
  );
  return clean(`Non-error thrown: ${shown ?? "a value that cannot be shown"}`, longestMessage);
}

function isError(value: unknown): value is Error {
  // The second for errors of another realm: of vm, of jest, of a worker thread.
  return read(() => value instanceof Error || types.isNativeError(value)) === true;
}

function nameOf(error: Error): string {
  return read(() => String(error.name || "Error")) ?? "Error";
}

function messageOf(error: Error): string {
  return read(() => String(error.message)) ?? "";
}

/** What `look` finds; undefined when it throws, as a getter or a proxy may. */
function read<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

/** At most `bytes` of UTF-8, cut between characters. */
function clean(text: string, bytes: number): string {
  // oxlint-disable-next-line no-control-regex -- the control character is the point
  const stored = text.slice(0, bytes).replace(/[\u0000\p{Surrogate}]/gu, "\uFFFD");
  if (Buffer.byteLength(stored) <= bytes) return stored;
  return Buffer.from(stored)
    .subarray(0, bytes)
    .toString("utf8")
    .replace(/\uFFFD$/, "");
}
