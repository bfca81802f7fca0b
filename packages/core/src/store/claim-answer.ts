import type { ClaimAnswerRow, ClaimedRow } from "./claim-jobs.js";

export interface ClaimAnswer {
  /** In no order. */
  readonly claimed: ClaimedRow[];
  /** What was due by then was looked at: microseconds since 1970, by the database's clock. */
  readonly now: string;
  /** Lanes from which nothing was taken. */
  readonly paused: readonly string[];
  /** The ids of the jobs that were completed. */
  readonly completed: readonly string[];
}

/** The rows of a claim, taken apart. */
export function readClaimAnswer(rows: readonly ClaimAnswerRow[]): ClaimAnswer {
  const head = rows.find(({ id }) => id === null);
  return {
    claimed: rows.filter((row) => row.id !== null) as ClaimedRow[],
    now: head?.now ?? "0",
    paused: head?.paused == null ? [] : (JSON.parse(head.paused) as string[]),
    completed: head?.completed == null ? [] : head.completed.split(","),
  };
}
