import type { ClaimAnswerRow, ClaimedRow, ClaimGroup } from "@queue/core/internal";

/** A job as a claim returns it; what is not given is ordinary. */
export function aRow(id: string, given: Partial<ClaimedRow> = {}): ClaimedRow {
  return {
    id,
    kind: "a",
    lane: "default",
    priority: 5,
    payload: "null",
    attempts: 1,
    max_attempts: 8,
    claims: 1,
    idempotency_key: null,
    created_at: "0",
    run_at: "0",
    ...given,
  };
}

interface Head {
  /** Microseconds since 1970. */
  readonly now?: string;
  readonly paused?: readonly string[];
  readonly completed?: readonly string[];
}

/** What a claim's statement returns: the row that says when it looked, and the jobs. */
export function answerRows(claimed: readonly ClaimedRow[], { now = "1000000", paused, completed }: Head = {}): ClaimAnswerRow[] {
  const noJob = Object.fromEntries(Object.keys(aRow("1")).map((column) => [column, null])) as Pick<ClaimAnswerRow, keyof ClaimedRow>;
  return [
    ...claimed.map((row) => ({ ...row, now: null, paused: null, completed: null })),
    { ...noJob, now, paused: paused === undefined ? null : JSON.stringify(paused), completed: completed?.join(",") ?? null },
  ];
}

/** The groups of lines that a claim was bound to. */
export function groupsIn(parameters: readonly unknown[] | undefined): ClaimGroup[] {
  return JSON.parse(String(parameters?.find((parameter) => String(parameter).startsWith("[")))) as ClaimGroup[];
}

/** The lanes that a claim was bound to, in their order. */
export function lanesIn(parameters: readonly unknown[] | undefined): string[] {
  return groupsIn(parameters).flatMap(({ lines }) => lines.map(({ lane }) => lane));
}
