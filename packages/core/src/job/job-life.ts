/** Where a job can be: the states of `jobs`, and the two ends in `jobs_archive`. */
export type JobState = "queued" | "running" | "dead" | "done" | "cancelled";

/** One way from a state to another. */
export interface JobTransition {
  /** Undefined: the job comes into being. */
  readonly from: JobState | undefined;
  readonly to: JobState;
  /** What happens, in one or two words. */
  readonly what: string;
  /** Who moves it. */
  readonly who: "producer" | "worker" | "sweep" | "operator";
  /** The statement in `store/` that does it. */
  readonly statement: string;
}

/**
 * The life of a job. The picture in the docs is drawn from this list, and a test runs every statement named here against a
 * database to see that it moves a job this way, and that no other statement moves one.
 */
export const jobLife: readonly JobTransition[] = [
  { from: undefined, to: "queued", what: "enqueue", who: "producer", statement: "enqueueJobs" },
  { from: "queued", to: "running", what: "claim", who: "worker", statement: "claimJobs" },
  { from: "running", to: "done", what: "complete", who: "worker", statement: "completeJobs" },
  { from: "running", to: "queued", what: "retry, snooze, release", who: "worker", statement: "requeueJobs" },
  { from: "running", to: "queued", what: "claim lost", who: "worker", statement: "releaseUnknownJobs" },
  { from: "running", to: "dead", what: "last failure", who: "worker", statement: "requeueJobs" },
  { from: "running", to: "queued", what: "lease ran out", who: "sweep", statement: "returnExpiredJobs" },
  { from: "running", to: "dead", what: "lease ran out, last attempt", who: "sweep", statement: "returnExpiredJobs" },
  { from: "dead", to: "queued", what: "attempt given back", who: "worker", statement: "refundAttempts" },
  { from: "dead", to: "queued", what: "redrive", who: "operator", statement: "redriveJobs" },
  { from: "queued", to: "cancelled", what: "cancel", who: "operator", statement: "cancelJob" },
  { from: "running", to: "cancelled", what: "cancel", who: "operator", statement: "cancelJob" },
  { from: "dead", to: "cancelled", what: "cancel", who: "operator", statement: "cancelJob" },
];
