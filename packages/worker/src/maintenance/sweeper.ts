import type { ExpiredJob, WorkerStatements } from "@queue/core/internal";
import type { Database } from "../database/database.js";
import { Loop } from "../lifecycle/loop.js";
import type { Clock } from "../time/clock.js";

export interface SweeperOptions {
  readonly database: Database;
  readonly statements: Pick<WorkerStatements, "returnExpiredJobs">;
  readonly clock: Clock;
  readonly intervalMs: number;
  /** After the database was away, every worker comes back at the same moment, and needs so long to say what it still runs. */
  readonly othersNeedMs: number;
  /** The ids of what this worker runs: it knows better than the clock that they are alive. */
  readonly known: () => readonly string[];
  /** Jobs are due again. */
  readonly onReturned: () => void;
  /** A sweep has ended; those of other workers may have returned jobs too. */
  readonly onSwept: () => void;
  readonly onExpired: (job: ExpiredJob) => void;
  readonly onError: (error: unknown) => void;
}

/** One statement; more would hold locks for long. */
const largestSweep = 1_000;

/**
 * Returns jobs whose lease ran out, of any worker: the dead do not do it themselves. What it runs itself is left to its own
 * heartbeat, and to the sweeps of others: after a long pause of the process both are late, and either may come first.
 */
export class Sweeper {
  readonly #options: SweeperOptions;
  readonly #loop: Loop;
  /** The last sweep failed. */
  #isAway = false;
  #notBeforeMs = Number.NEGATIVE_INFINITY;

  constructor(options: SweeperOptions) {
    this.#options = options;
    const { clock, intervalMs, onError } = options;
    this.#loop = new Loop({ clock, intervalMs, runOnce: () => this.runOnce(), onError });
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async runOnce(): Promise<void> {
    const { database, statements, known, onReturned, onSwept, onExpired } = this.#options;
    if (!(await this.#isTime())) return;
    for (let count = largestSweep; count === largestSweep;) {
      const input = { limit: largestSweep, except: `{${known().join(",")}}` };
      const expired = await database.run(statements.returnExpiredJobs, input).catch((error: unknown) => {
        this.#isAway = true;
        throw error;
      });
      count = expired.length;
      if (expired.some(({ status }) => status === "queued")) onReturned();
      for (const job of expired) onExpired(job);
    }
    onSwept();
  }

  /** Leases that ran out while the database was away are their workers' to extend first. */
  async #isTime(): Promise<boolean> {
    const { database, statements, clock, othersNeedMs } = this.#options;
    if (!this.#isAway) return clock.now() >= this.#notBeforeMs;
    await database.run(statements.returnExpiredJobs, { limit: 0, except: "{}" });
    this.#isAway = false;
    this.#notBeforeMs = clock.now() + othersNeedMs;
    return false;
  }
}
