import type { Admin, JobDefinitions, Queue } from "@queue/core";
import type { DatabaseTarget } from "@queue/core/adapter";
import type { Handlers } from "@queue/worker";
import type { DrainOptions, DrainResult } from "./drain.js";
import type { TestClock } from "./test-clock.js";

/** A queue and a database for a test. `await using` closes it. */
export interface TestQueue<TJobs extends JobDefinitions, TSchema extends string, TDb extends DatabaseTarget> extends AsyncDisposable {
  /** The migrated database. */
  readonly db: TDb;
  readonly queue: Queue<TJobs, TSchema>;
  /** `queue.admin(db)`: look at jobs, retry, cancel, redrive. */
  readonly admin: Admin<TJobs>;
  /** Moves the time that the queue goes by. */
  readonly clock: TestClock;
  /**
   * Works all due jobs of the kinds that have a handler here, by a real worker, until none is due; what the jobs enqueue, too.
   *
   * @throws DrainError, a `QueueError`, when a handler failed, unless `failures: "allow"`; what `createWorker` throws for wrong handlers
   * @example await drain({ "order.send-receipt": sendReceipt }, { until: "1h" });
   */
  drain(handlers: Handlers<{ readonly jobs: TJobs }, TDb>, options?: DrainOptions): Promise<DrainResult>;
  /** Ends the database that was made for the test; one that was given stays open. Safe to call twice. */
  close(): Promise<void>;
}
