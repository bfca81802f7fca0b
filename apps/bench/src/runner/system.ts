/** The payload of every job: small, and the same for every side. */
export interface BenchJob {
  readonly id: number;
  readonly hello: string;
  /** Fails at its first attempt. */
  readonly failOnce?: true;
  /** Makes the payload larger. */
  readonly filler?: string;
}

/** What a side is set up for. */
export interface SystemOptions {
  /** Of the database, or of Redis. */
  readonly url: string;
  /** As its documentation recommends for the aim, or as it comes. */
  readonly settings: "best" | "defaults";
  readonly aim: "throughput" | "latency";
  /** The poll interval, where the measure asks for one. */
  readonly pollMs?: number;
  /** Connections for enqueueing. @default 10 */
  readonly connections?: number;
  /** Over how many lanes and kinds jobs are spread. Ours only. */
  readonly spread?: { readonly lanes: number; readonly kinds: number };
}

/**
 * Rows written by one SQL statement, because a library's own calls would take an hour for ten million: `due` is like what was
 * enqueued, `foreign` is due but of a kind without a handler, `tomorrow` is not due, `ended` is in the archive.
 */
export type Backlog = "due" | "foreign" | "tomorrow" | "ended";

/** Told of each start of a handler; "fail" asks the handler to throw. */
export type OnStart = (job: BenchJob) => "done" | "fail";

/** One side of the comparison, in a process of its own. What a side cannot do is left out. */
export interface System {
  /** Creates its tables in an empty database. */
  install(): Promise<void>;
  /** Makes the connections that enqueueing needs. */
  connect(): Promise<void>;
  enqueue(job: BenchJob, delayMs: number): Promise<void>;
  /** Any number of jobs by the bulk call that is documented. */
  enqueueMany(jobs: readonly BenchJob[]): Promise<void>;
  /** All jobs in one transaction; resolves with the moment before the commit was sent. */
  enqueueTogether(jobs: readonly BenchJob[]): Promise<number>;
  /** `begin`, one enqueue, `commit`, on a connection of the pool. */
  enqueueInTransaction?(job: BenchJob): Promise<void>;
  insertBacklog?(backlog: Backlog, jobs: number): Promise<void>;
  /** Starts a worker; resolves when it is ready. */
  work(onStart: OnStart): Promise<void>;
  /** Whether no job waits or runs any more. */
  isDrained(): Promise<boolean>;
  /** Stops the worker and gives back what it holds. */
  stop(): Promise<void>;
  /** Whether a statement is this side's claim; a side without SQL has none. */
  isClaim?(statement: string): boolean;
  /** How long after its first failure a job is due again. */
  readonly retryDelayMs: number;
}
