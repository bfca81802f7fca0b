import type { ClaimedRow } from "@queue/core/internal";

/** The order of a line: when a job is due, and its id, which is larger than a number can be exact. */
export function compareInLine(a: ClaimedRow, b: ClaimedRow): number {
  return Number(a.run_at) - Number(b.run_at) || a.id.length - b.id.length || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/** The order in which jobs are begun: what is first in its line is started first. */
export function compareForStart(a: ClaimedRow, b: ClaimedRow): number {
  return a.priority - b.priority || compareInLine(a, b);
}
