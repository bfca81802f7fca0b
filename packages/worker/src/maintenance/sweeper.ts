import type { ExpiredJob, WorkerStatements } from "@queue/core/internal";
import type { Database } from "../database/database.js";
import { Loop } from "../lifecycle/loop.js";
import type { Clock } from "../time/clock.js";

export interface SweeperOptions {
  readonly database: Database;
  readonly statements: Pick<WorkerStatements, "returnExpiredJobs">;
  readonly clock: Clock;
  readonly intervalMs: number;
  readonly leaseMs: number;
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

/**
 * A sweep of everything may take this share of the time. When it takes longer, because somebody holds a snapshot and the index has all
 * that ran since, the sweeps between look at what was claimed in the last minute, or in two leases, only.
 */
const fullShare = 1 / 50;
const leastRecentMs = 60_000;
/** In intervals: a database that stood still was slow for another reason. */
const mostNearSweeps = 12;

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
  #fullAtMs = Number.NEGATIVE_INFINITY;

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
    const { database, statements, clock, leaseMs, known, onReturned, onSwept, onExpired } = this.#options;
    if (!(await this.#isTime())) return;
    const beganAtMs = clock.now();
    const isFull = beganAtMs >= this.#fullAtMs;
    const withinMs = isFull ? null : Math.max(leastRecentMs, 2 * leaseMs);
    for (let count = largestSweep; count === largestSweep;) {
      const input = { limit: largestSweep, except: `{${known().join(",")}}`, withinMs };
      const expired = await database.run(statements.returnExpiredJobs, input).catch((error: unknown) => {
        this.#isAway = true;
        throw error;
      });
      count = expired.length;
      if (expired.some(({ status }) => status === "queued")) onReturned();
      for (const job of expired) onExpired(job);
    }
    if (isFull) this.#fullAtMs = this.#nextFullAtMs(clock.now() - beganAtMs);
    onSwept();
  }

  #nextFullAtMs(tookMs: number): number {
    const { clock, intervalMs } = this.#options;
    const pauseMs = tookMs / fullShare;
    return pauseMs <= intervalMs / 2 ? Number.NEGATIVE_INFINITY : clock.now() + Math.min(pauseMs, mostNearSweeps * intervalMs);
  }

  /** Leases that ran out while the database was away are their workers' to extend first. */
  async #isTime(): Promise<boolean> {
    const { database, statements, clock, othersNeedMs } = this.#options;
    if (!this.#isAway) return clock.now() >= this.#notBeforeMs;
    await database.run(statements.returnExpiredJobs, { limit: 0, except: "{}", withinMs: 0 });
    this.#isAway = false;
    this.#notBeforeMs = clock.now() + othersNeedMs;
    return false;
  }
}
