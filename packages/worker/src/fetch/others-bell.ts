import type { WorkerStatements } from "@queue/core/internal";
import type { Database } from "../database/database.js";
import { soon } from "../time/soon.js";

export interface OthersBellOptions {
  readonly database: Database;
  readonly statements: Pick<WorkerStatements, "ringForJobs" | "ringWorkers">;
  readonly onError: (error: unknown) => void;
}

/** A job that was put back, as a claim has read it. */
export interface PutBack {
  readonly lane: string;
  readonly priority: number;
  /** Microseconds since 1970. */
  readonly run_at: string;
}

/** Rings for the jobs that this worker puts back so that others may have them: the trigger rings for new ones only. */
export class OthersBell {
  readonly #options: OthersBellOptions;
  #jobs: PutBack[] = [];

  constructor(options: OthersBellOptions) {
    this.#options = options;
  }

  /** Rings when this turn of the event loop is over, in which the rest of its batch comes, too. */
  add({ lane, priority, run_at }: PutBack): void {
    this.#jobs.push({ lane, priority, run_at });
    if (this.#jobs.length === 1) soon(() => void this.#ring());
  }

  /** Whoever hears it looks everywhere, and far below what it has claimed. */
  async ringForAll(): Promise<void> {
    const { database, statements } = this.#options;
    await database.run(statements.ringWorkers, { message: "*" });
  }

  async #ring(): Promise<void> {
    const { database, statements, onError } = this.#options;
    try {
      await database.run(statements.ringForJobs, { jobs: JSON.stringify(this.#jobs.splice(0)) });
    } catch (error) {
      onError(error);
    }
  }
}
