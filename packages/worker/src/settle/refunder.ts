import type { WorkerStatements } from "@queue/core/internal";
import { type Database, databaseError } from "../database/database.js";
import type { RunningAttempt } from "../run/running-attempt.js";
import type { Clock } from "../time/clock.js";
import { retryDelayMs } from "../time/retry-delay.js";

export interface RefunderOptions {
  readonly database: Database;
  readonly statements: Pick<WorkerStatements, "refundAttempts">;
  readonly worker: string;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Some ten seconds in all, by `retryDelayMs`: it is about an attempt, and not about the job. */
const mostTries = 8;

/** Gives back the attempts of jobs that this worker lost before their handlers started. */
export class Refunder {
  readonly #options: RefunderOptions;
  readonly #refunding = new Set<Promise<void>>();
  #isStopping = false;

  constructor(options: RefunderOptions) {
    this.#options = options;
  }

  refund(attempt: RunningAttempt): void {
    const refunding = this.#refund(attempt).finally(() => this.#refunding.delete(refunding));
    this.#refunding.add(refunding);
  }

  /** Resolves when nothing is tried any more. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#refunding);
  }

  async #refund({ id, attempt }: RunningAttempt): Promise<void> {
    const { database, statements, worker, clock, onError } = this.#options;
    for (let tries = 1; tries <= mostTries; tries++) {
      try {
        await database.run(statements.refundAttempts, { ids: `{${id}}`, attempts: `{${attempt}}`, worker });
        return;
      } catch (error) {
        onError(databaseError(`Giving back an attempt of job ${id} failed`, error));
        if (this.#isStopping) return;
        await new Promise<void>((resolve) => clock.after(retryDelayMs(tries), resolve));
      }
    }
  }
}
