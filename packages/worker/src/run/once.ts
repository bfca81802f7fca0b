import { PermanentError } from "@queue/core";
import { checkName, type EffectRecord, queueError, refuseUnknownOptions, showValue, type WorkerStatements } from "@queue/core/internal";
import { type Database, databaseError } from "../database/database.js";
import { leaseLost } from "../lease/lease-keeper.js";
import type { Clock } from "../time/clock.js";
import { retryDelayMs } from "../time/retry-delay.js";
import type { RunningAttempt } from "./running-attempt.js";

export interface OnceOptions {
  /** `"job"`: once per job, over all its attempts. `"kind"`: once per key over all jobs of the kind. @default "job" */
  readonly scope?: "job" | "kind" | undefined;
  /**
   * What to do when an attempt before this one began the effect and died: `"skip"` it (at most once), `"run"` it again (at
   * least once), or let the job be `"dead"`, so that a person decides. @default "skip"
   */
  readonly onUnknown?: "skip" | "run" | "dead" | undefined;
}

export type OnceResult<T> = { readonly ran: true; readonly value: T } | { readonly ran: false };

/** Some ten seconds in all, by `retryDelayMs`. */
const mostTries = 8;
/** Another attempt wrote the record between our two looks; it cannot go on for ever. */
const longestContest = 10;

/**
 * The delivery record first, under a unique key, then the effect: "let the database refuse the duplicate". What comes after a
 * crash between the two is the caller's choice, because nobody can know whether the effect happened.
 */
export class OnceKeeper {
  readonly #database: Database;
  readonly #statements: Pick<WorkerStatements, "beginEffect" | "finishEffect" | "forgetEffect">;

  readonly #clock: Clock;
  readonly #worker: string;
  /** Calls that have not ended, of this process. */
  readonly #underWay = new Set<string>();

  constructor(
    database: Database,
    statements: Pick<WorkerStatements, "beginEffect" | "finishEffect" | "forgetEffect">,
    worker: string,
    clock: Clock,
  ) {
    this.#database = database;
    this.#statements = statements;
    this.#clock = clock;
    this.#worker = worker;
  }

  /** What a transactional handler gets: its transaction may hold the only connection, which the record would wait for. */
  onceInTransaction<T>(...call: Parameters<typeof this.once<T>>): Promise<OnceResult<T>> {
    return this.#database.hasOneConnection ? Promise.reject(noConnection()) : this.once(...call);
  }

  async once<T>(
    attempt: RunningAttempt,
    signal: AbortSignal,
    key: string,
    fn: (signal: AbortSignal) => T | Promise<T>,
    options: OnceOptions = {},
  ): Promise<OnceResult<T>> {
    const { scope, onUnknown } = checkOptions(options);
    const effect = {
      kind: attempt.row.kind,
      key: checkName(key, "once: the key", 1_000),
      jobId: scope === "job" ? attempt.id : "0",
      startedBy: attempt.id,
      startedClaims: attempt.fence,
    };
    const own = `${effect.jobId} ${effect.kind} ${key} ${attempt.id}/${attempt.fence}`;
    if (this.#underWay.has(own)) throw inProgress(attempt, key);
    this.#underWay.add(own);
    try {
      if (!(await this.#begin(attempt, effect, onUnknown))) return { ran: false };
      return { ran: true, value: await this.#carryOut(attempt, effect, () => fn(signal)) };
    } finally {
      this.#underWay.delete(own);
    }
  }

  async #carryOut<T>(attempt: RunningAttempt, effect: Effect, fn: () => T | Promise<T>): Promise<T> {
    let value: T;
    try {
      value = await fn();
    } catch (error) {
      // The error of the effect is the attempt's, whatever becomes of the record.
      await this.#persist(attempt, () => this.#database.run(this.#statements.forgetEffect, effect)).catch(() => {});
      throw error;
    }
    await this.#persist(attempt, () => this.#database.run(this.#statements.finishEffect, effect));
    return value;
  }

  /** All of it is safe to repeat, and a record that one lost answer leaves behind would be "nobody knows" to the next attempt. */
  async #persist<T>(attempt: RunningAttempt, write: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      if (attempt.isLost && attempt.abortedBy !== undefined) throw attempt.abortedBy;
      try {
        return await write();
      } catch (error) {
        if (tries >= mostTries || !databaseError("once", error).isRetryable) throw error;
        await new Promise<void>((resolve) => this.#clock.after(retryDelayMs(tries), resolve));
      }
    }
  }

  async #begin(attempt: RunningAttempt, effect: Effect, onUnknown: "skip" | "run" | "dead"): Promise<boolean> {
    // A record of this very claim, with no call of it under way here, is ours: written by a try whose answer was lost.
    let takeOver = `${attempt.id}/${attempt.fence}`;
    for (let round = 0; round < longestContest; round++) {
      const input = { ...effect, worker: this.#worker, takeOver };
      const [record] = await this.#persist(attempt, () => this.#database.run(this.#statements.beginEffect, input));
      if (record === undefined) continue;
      if (record.begun) return true;
      if (record.fenced) throw leaseLost(attempt.id, "its effect was fenced off");
      if (record.done) return false;
      if (isUnderWay(record, attempt)) throw inProgress(attempt, effect.key);
      if (onUnknown === "skip") return false;
      if (onUnknown === "dead") {
        throw new PermanentError(
          `Nobody knows whether the effect ${JSON.stringify(effect.key)} happened: attempt ${record.owner} died in the middle of it.`,
        );
      }
      takeOver = record.owner;
    }
    throw inProgress(attempt, effect.key);
  }
}

interface Effect {
  readonly kind: string;
  readonly key: string;
  readonly jobId: string;
  readonly startedBy: string;
  readonly startedClaims: number;
}

/** The attempt that began it still holds its lease. It may be this one, when a handler calls `once` twice at the same time. */
function isUnderWay(record: EffectRecord, attempt: RunningAttempt): boolean {
  return record.owner_running || record.owner === `${attempt.id}/${attempt.fence}`;
}

function noConnection() {
  return queueError(
    "INVALID_OPTION",
    "once writes its record outside the handler's transaction, and this database has only the connection that the transaction holds. Use a plain handler, or write a record of your own with trx.",
    { option: "once" },
  );
}

function inProgress(attempt: RunningAttempt, key: string) {
  return queueError("EFFECT_IN_PROGRESS", `The effect ${JSON.stringify(key)} is being carried out by another attempt at this moment.`, {
    jobId: attempt.id,
    key,
  });
}

function checkOptions(options: OnceOptions): { scope: "job" | "kind"; onUnknown: "skip" | "run" | "dead" } {
  refuseUnknownOptions(options, ["scope", "onUnknown"], "once");
  const { scope = "job", onUnknown = "skip" } = options;
  if (scope !== "job" && scope !== "kind") throw invalid("scope", '"job" or "kind"', scope);
  if (!["skip", "run", "dead"].includes(onUnknown)) throw invalid("onUnknown", '"skip", "run" or "dead"', onUnknown);
  return { scope, onUnknown };
}

function invalid(option: string, expected: string, given: unknown) {
  return queueError("INVALID_OPTION", `once: ${option} must be ${expected}, but is ${showValue(given)}.`, { option });
}
