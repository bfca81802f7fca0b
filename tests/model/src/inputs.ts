import type { Job } from "./view.js";

/** A job as it is enqueued. */
export interface Item extends Pick<Job, "kind" | "lane" | "key" | "hold" | "maxAttempts" | "isKept"> {
  readonly isDelayed: boolean;
}

/** What a worker asks for. */
export interface Claim {
  readonly worker: string;
  readonly kinds: readonly string[];
  /** In the order in which they are served. */
  readonly lanes: readonly string[];
  readonly limit: number;
}

/** Every write to a running job names it, with the worker. */
export interface Fence {
  readonly job: number;
  readonly claims: number;
}

/** What a claim tells its worker, by which that decides. */
export interface ClaimedJob extends Fence {
  readonly attempts: number;
  readonly maxAttempts: number;
}

export interface Settlement {
  readonly outcome: "done" | "failed" | "dead" | "snoozed" | "released";
  /** Of what failed and is tried again, and of what was snoozed. */
  readonly isDelayed: boolean;
  /** In the handler's own transaction, which waits for rows that others have locked; a worker's batch skips them. */
  readonly isOwn: boolean;
}

/** Which dead letters. */
export interface Redrive {
  readonly kind: string | undefined;
  readonly lane: string | undefined;
  readonly limit: number | undefined;
  readonly dryRun: boolean;
}
