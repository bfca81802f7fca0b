import type { KindIn } from "../job/infer.js";
import type { JobDefinitions } from "../job/job-definition.js";
import type { QueueHealth } from "./health.js";
import type { JobRecord } from "./job-record.js";

/** Literals for completion, any string allowed: rows outlive the kinds that code knows. */
type Known<T extends string> = T | (string & {});

export interface Page<T> {
  readonly items: readonly T[];
  /** Give it to `after` for the next page; null on the last. */
  readonly next: string | null;
}

export interface JobFilter<TKind extends string = string> {
  readonly status?: JobRecord["status"] | undefined;
  readonly kind?: Known<TKind> | undefined;
  readonly lane?: string | undefined;
  /** `next` of the page before. */
  readonly after?: string | null | undefined;
  /** From 1 to 1,000. @default 50 */
  readonly limit?: number | undefined;
}

export interface RedriveFilter<TKind extends string = string> {
  readonly kind?: Known<TKind> | undefined;
  readonly lane?: string | undefined;
  /** Only what died after this moment. */
  readonly deadAfter?: Date | undefined;
  /** At most so many. @default no limit */
  readonly limit?: number | undefined;
  /** Only count what would be redriven. @default false */
  readonly dryRun?: boolean | undefined;
  /** Needed when nothing else says which: all dead letters. */
  readonly all?: true | undefined;
}

export interface RedriveResult {
  /** How many were, or with `dryRun` would be, returned to the queue. */
  readonly count: number;
  readonly dryRun: boolean;
  /** Ids that stay dead because another job holds their key. */
  readonly conflicts: readonly string[];
}

/** What an operator needs. Every call is one or a few short statements through the `db` that it was made with. */
export interface Admin<TJobs extends JobDefinitions> {
  /** The state of every lane, in milliseconds at any size. */
  health(): Promise<QueueHealth>;
  /** One job, live or archived. */
  job(id: string): Promise<JobRecord | null>;
  /** Jobs, newest first. */
  jobs(filter?: JobFilter<KindIn<TJobs>>): Promise<Page<JobRecord>>;
  /**
   * Lets a job run now: a dead one with all its attempts again, one that waits for its time without waiting.
   *
   * @throws QueueError `JOB_NOT_FOUND`; `JOB_STATE` when it is running, done or cancelled; `KEY_HELD` when another job holds
   * its key
   */
  retry(id: string): Promise<JobRecord>;
  /**
   * Ends a job, also a running one: the signal of its handler aborts, and nothing the handler does later is recorded.
   *
   * @throws QueueError `JOB_NOT_FOUND`; `JOB_STATE` when it is done
   */
  cancel(id: string): Promise<JobRecord>;
  /** Returns dead letters to the queue, in batches. @throws QueueError `INVALID_OPTION` without a filter and without `all` */
  redrive(filter: RedriveFilter<KindIn<TJobs>>): Promise<RedriveResult>;
  /** No worker claims from the lane any more; what runs goes on. */
  pause(lane: string): Promise<void>;
  resume(lane: string): Promise<void>;
}
