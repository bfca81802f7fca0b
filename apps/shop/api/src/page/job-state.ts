/** What a person wants to know about a job, in a word. */
export type JobState = "scheduled" | "waiting" | "running" | "retrying" | "done" | "dead" | "cancelled";

/** The columns of `queue.all_jobs` that decide it. */
export interface JobProgress {
  readonly status: "queued" | "waiting" | "running" | "dead" | "done" | "cancelled";
  readonly attempts: number;
  readonly isDue: boolean;
}

/** `queued` is one word for three things: never tried and due, not due yet, and between two attempts. */
export function jobState({ status, attempts, isDue }: JobProgress): JobState {
  if (status !== "queued") return status;
  if (attempts > 0) return "retrying";
  return isDue ? "waiting" : "scheduled";
}
