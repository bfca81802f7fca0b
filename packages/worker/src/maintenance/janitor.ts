import { sqlStateOf } from "@queue/core/adapter";
import type { WorkerStatements } from "@queue/core/internal";
import type { Database } from "../database/database.js";
import { Loop } from "../lifecycle/loop.js";
import type { Logger } from "../logger.js";
import type { Clock } from "../time/clock.js";

export interface JanitorOptions {
  readonly database: Database;
  readonly statements: Pick<WorkerStatements, "deleteEnded" | "deleteReleasedKeys" | "maintainArchive">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onError: (error: unknown) => void;
}

const cleanIntervalMs = 60_000;
/** The partitions of a week are there; an hour is early enough to make the next, and to drop the oldest. */
const partitionIntervalMs = 3_600_000;
/** Small enough for any statement timeout. */
const largestDelete = 1_000;
/** Of the keys that are walked over: a hundred thousand a minute. */
const mostParts = 100;

/** Keeps the archive's partitions ahead of time, drops those that may go, and removes what nothing refers to any more. */
export class Janitor {
  readonly #options: JanitorOptions;
  readonly #cleaning: Loop;
  readonly #partitioning: Loop;
  #mayMaintain = true;
  #place = { afterKind: "", afterKey: "" };

  constructor(options: JanitorOptions) {
    this.#options = options;
    const { clock, onError } = options;
    this.#cleaning = new Loop({ clock, intervalMs: cleanIntervalMs, runOnce: () => this.clean(), onError });
    this.#partitioning = new Loop({ clock, intervalMs: partitionIntervalMs, runOnce: () => this.maintainPartitions(), onError });
  }

  start(): void {
    this.#cleaning.start();
    this.#partitioning.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#cleaning.stop(), this.#partitioning.stop()]);
  }

  async clean(): Promise<void> {
    const { database, statements } = this.#options;
    // Until nothing is removed: a batch may be short because somebody has some of its rows locked.
    for (let isMore = true; isMore;) {
      const [counts] = await database.run(statements.deleteEnded, { limit: largestDelete });
      isMore = counts !== undefined && [counts.keys, counts.effects, counts.archived].some((count) => Number(count) > 0);
    }
    await this.#walkKeys();
  }

  /** A part of the keys that an event releases; the next time it goes on from there. */
  async #walkKeys(): Promise<void> {
    const { database, statements } = this.#options;
    for (let part = 0; part < mostParts; part++) {
      const [walk] = await database.run(statements.deleteReleasedKeys, { ...this.#place, limit: largestDelete });
      this.#place = { afterKind: walk?.kind ?? "", afterKey: walk?.key ?? "" };
      if (walk?.kind == null) return;
    }
  }

  /** Without the right to do so, the archive's default partition takes the rows, and `clean` removes them. */
  async maintainPartitions(): Promise<void> {
    if (!this.#mayMaintain) return;
    const { database, statements, logger } = this.#options;
    try {
      await database.run(statements.maintainArchive, {});
    } catch (error) {
      const state = sqlStateOf(error);
      if (state === "42501") {
        this.#mayMaintain = false;
        logger.info({}, "This role may not run maintain_archive(): the archive goes without partitions until another role does.");
      } else if (state === "55P03") {
        logger.debug({}, "The archive was being read for longer than its maintenance waits; next time.");
      } else {
        throw error;
      }
    }
  }
}
