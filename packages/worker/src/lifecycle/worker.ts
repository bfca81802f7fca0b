import type { Duration } from "@queue/core";

/** Moves the jobs of a queue. */
export interface Worker extends AsyncDisposable {
  /**
   * Begins to work. Resolves once it is claiming, and listening if it has a listener.
   *
   * @throws QueueError `SCHEMA_MISSING`, `SCHEMA_TOO_OLD`, `SCHEMA_TOO_NEW`; errors of the database when it is away
   */
  start(): Promise<void>;
  /**
   * Claims no more, waits for running handlers up to the grace, aborts their signals, and gives back what does not end then.
   * Nothing stays locked. Safe to call twice, and before `start`.
   */
  stop(options?: { readonly grace?: Duration | undefined }): Promise<void>;
  /**
   * `start`, then `stop` on SIGTERM or SIGINT; resolves when stopped. A second signal ends the grace.
   *
   * @throws QueueError what `start` throws; `SCHEMA_MISSING` when the tables are dropped under the worker, which stops then
   */
  run(): Promise<void>;
  /** Works until nothing is due and nothing runs, then resolves: for scripts and tests. What is due later stays. */
  runUntilIdle(): Promise<void>;
}
