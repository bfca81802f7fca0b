/** Counts stop here: health stays cheap at ten million jobs. */
export const healthCountCap = 10_000;

export interface LaneHealth {
  readonly lane: string;
  /** Due, and waiting for a worker. Counts stop at 10,000 for each priority of a lane. */
  readonly ready: number;
  /** Due later: delayed, or between two attempts. */
  readonly scheduled: number;
  readonly waiting: number;
  readonly running: number;
  readonly dead: number;
  /** How long the oldest ready job has been due, in milliseconds; null when none is ready. */
  readonly oldestReadyMs: number | null;
  /** Running jobs whose lease ran out and that the sweep has not returned yet: workers die, or do not heartbeat. */
  readonly expiredLeases: number;
  readonly paused: boolean;
  /** At least one of the counts stopped at the cap. */
  readonly isCapped: boolean;
}

export interface QueueHealth {
  readonly lanes: readonly LaneHealth[];
  /** Rows of the jobs table that vacuum has yet to remove. */
  readonly deadTuples: number;
  /** The oldest transaction that keeps vacuum from removing them: who, and for how long. */
  readonly oldestSnapshot: { readonly ageMs: number; readonly pid: number; readonly application: string } | null;
  /** Kinds that wait and that no live worker has a handler for. */
  readonly kindsWithoutWorker: string[];
}
