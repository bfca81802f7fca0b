import type { WorkerStatements } from "@queue/core/internal";
import { type Database, databaseError } from "../database/database.js";
import type { RunningAttempt } from "../run/running-attempt.js";
import type { Clock } from "../time/clock.js";
import { retryDelayMs } from "../time/retry-delay.js";

export interface RefunderOptions {
  readonly database: Database;
  readonly statements: Pick<WorkerStatements, "findExpiredAttempts" | "refundAttempts">;
  readonly worker: string;
  readonly clock: Clock;
  /** Whether the handler of an attempt was started here. */
  readonly hasBegun: (id: string, attempt: number) => boolean;
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

  refund(attempt: Pick<RunningAttempt, "id" | "attempt">): void {
    this.#keep(this.#refund(attempt));
  }

  /** Answers to claims were lost: what they took, and a sweep has returned, was never known here. */
  refundLost(): void {
    this.#keep(this.#refundLost());
  }

  /** Resolves when nothing is tried any more. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#refunding);
  }

  #keep(refunding: Promise<void>): void {
    const kept = refunding.finally(() => this.#refunding.delete(kept));
    this.#refunding.add(kept);
  }

  async #refundLost(): Promise<void> {
    const { database, statements, worker, hasBegun, onError } = this.#options;
    try {
      const expired = await database.run(statements.findExpiredAttempts, { worker });
      for (const row of expired) {
        const attempt = Number(row.attempt);
        if (!hasBegun(row.id, attempt)) await this.#refund({ id: row.id, attempt });
      }
    } catch (error) {
      onError(databaseError("Looking for attempts to give back failed", error));
    }
  }

  async #refund({ id, attempt }: Pick<RunningAttempt, "id" | "attempt">): Promise<void> {
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
