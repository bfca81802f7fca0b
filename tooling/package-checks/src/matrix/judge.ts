import type { KnownLimit } from "./known-limits.js";

/** A field of the table. */
export interface Verdict {
  readonly outcome: "works" | "limit" | "failed";
  /** What is wrong, or why it is no failure. */
  readonly problems: readonly string[];
}

/** What problems mean, given what is known: a known limit that does not show any more is a failure, too. */
export function judge(problems: readonly string[], limit: KnownLimit | undefined): Verdict {
  if (limit === undefined) return { outcome: problems.length === 0 ? "works" : "failed", problems };
  if (problems.length === 0) {
    return { outcome: "failed", problems: [`It works now: take this limit out of src/matrix/known-limits.ts: ${limit.reason}`] };
  }
  const others = problems.filter((problem) => !problem.includes(limit.error));
  return others.length === 0 ? { outcome: "limit", problems: [limit.reason] } : { outcome: "failed", problems: others };
}
