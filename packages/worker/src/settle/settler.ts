import type { Requeue, Statement, WorkerStatements } from "@queue/core/internal";
import { type Database, databaseError } from "../database/database.js";
import type { Outcome } from "../run/decide-outcome.js";
import type { RunningAttempt } from "../run/running-attempt.js";
import type { Clock } from "../time/clock.js";
import { retryDelayMs } from "../time/retry-delay.js";

export interface SettlerOptions {
  readonly database: Database;
  readonly statements: Pick<WorkerStatements, "completeJobs" | "requeueJobs">;
  readonly worker: string;
  readonly clock: Clock;
  /** The outcome is in the table, or, when not `isRecorded`, the fence refused it. */
  readonly onSettled: (attempt: RunningAttempt, outcome: Outcome, isRecorded: boolean) => void;
  readonly onError: (error: unknown) => void;
}

interface Settlement {
  readonly attempt: RunningAttempt;
  readonly outcome: Outcome;
}

/** One statement; a batch beyond it waits for the next. */
const largestBatch = 1_000;
/** So often the database may refuse one outcome for good, which another statement may have caused, before it is given up. */
const mostRefusals = 3;

/**
 * Writes the outcomes of attempts. While one batch is on its way, the next gathers: immediate when idle, large when busy, and
 * no timer. A batch that fails is tried again until it succeeds or its leases are gone; when the database refuses it for good,
 * item by item, so that one outcome that cannot be written does not hold back the others. It is given up after a few tries:
 * its lease runs out, and the sweep decides.
 */
export class Settler {
  readonly #options: SettlerOptions;
  #pending: Settlement[] = [];
  #inFlight = 0;
  #flushing: Promise<void> | undefined;
  #isAbandoned = false;

  constructor(options: SettlerOptions) {
    this.#options = options;
  }

  /** Outcomes that are not in the table yet. */
  get backlog(): number {
    return this.#pending.length + this.#inFlight;
  }

  settle(attempt: RunningAttempt, outcome: Outcome): void {
    this.#pending.push({ attempt, outcome });
    this.#flushing ??= this.#flush();
  }

  /** Resolves when everything handed over so far is recorded or lost. */
  async drain(): Promise<void> {
    while (this.#flushing !== undefined) await this.#flushing;
  }

  /** Tries no more: what is not recorded by now runs again when its lease has run out. */
  abandon(): void {
    this.#isAbandoned = true;
  }

  async #flush(): Promise<void> {
    // In a microtask of its own, so that handlers that end in the same turn share the first batch.
    await Promise.resolve();
    while (this.#pending.length > 0) {
      const batch = this.#pending.splice(0, largestBatch).sort(byId);
      this.#inFlight = batch.length;
      const done = batch.filter(({ outcome }) => outcome.type === "done");
      const others = batch.filter(({ outcome }) => outcome.type !== "done");
      await Promise.all([this.#write(done, completion(this.#options)), this.#write(others, requeueing(this.#options))]);
      this.#inFlight = 0;
    }
    // In the same turn as the look above: what is handed over from now on begins a flush of its own.
    this.#flushing = undefined;
  }

  async #write<TInput>(batch: readonly Settlement[], { statement, input }: Writing<TInput>): Promise<void> {
    if (batch.length === 0) return;
    const { database, clock, onSettled, onError } = this.#options;
    for (let tries = 1; ; tries++) {
      const alive = batch.filter(({ attempt }) => !attempt.isLost);
      for (const { attempt, outcome } of batch) if (attempt.isLost) onSettled(attempt, outcome, false);
      if (alive.length === 0) return;
      try {
        const rows = await database.run(statement, input(alive));
        const recorded = new Set(rows.map((row) => row.id));
        for (const { attempt, outcome } of alive) onSettled(attempt, outcome, recorded.has(attempt.id));
        return;
      } catch (error) {
        if (this.#isAbandoned) {
          for (const { attempt, outcome } of alive) onSettled(attempt, outcome, false);
          return;
        }
        const failure = databaseError(`Recording ${alive.length} outcomes failed (try ${tries})`, error);
        onError(failure);
        if (!failure.isRetryable && alive.length > 1) {
          await Promise.all(alive.map((one) => this.#write([one], { statement, input })));
          return;
        }
        if (!failure.isRetryable && tries >= mostRefusals) {
          for (const { attempt, outcome } of alive) onSettled(attempt, outcome, false);
          return;
        }
        await new Promise<void>((resolve) => clock.after(retryDelayMs(tries), resolve));
        batch = alive;
      }
    }
  }
}

interface Writing<TInput> {
  readonly statement: Statement<TInput, { id: string }>;
  readonly input: (batch: readonly Settlement[]) => TInput;
}

function completion({ statements, worker }: SettlerOptions) {
  return {
    statement: statements.completeJobs,
    input: (batch: readonly Settlement[]) => ({
      ids: list(batch, ({ attempt }) => attempt.id),
      fences: list(batch, ({ attempt }) => attempt.fence),
      keeps: list(batch, ({ attempt }) => attempt.kind.options.keepMs ?? "NULL"),
      worker,
    }),
  };
}

function requeueing({ statements, worker }: SettlerOptions) {
  return {
    statement: statements.requeueJobs,
    input: (batch: readonly Settlement[]) => ({
      jobs: JSON.stringify(Object.fromEntries(batch.map(({ attempt, outcome }) => [attempt.id, toRequeue(attempt, outcome)]))),
      worker,
    }),
  };
}

/** How an outcome other than done is written. */
export function toRequeue({ fence, attempt, maxAttempts }: RunningAttempt, outcome: Outcome): Requeue {
  switch (outcome.type) {
    case "retry":
      return { fence, status: "queued", delayMs: outcome.delayMs, attemptsBack: 0, error: outcome.error };
    case "dead":
      return { fence, status: "dead", delayMs: 0, attemptsBack: 0, error: outcome.error };
    case "snoozed":
      return { fence, status: "queued", delayMs: outcome.delayMs, attemptsBack: 1 };
    case "released":
      // The last attempt is given back even when it was begun: a deploy is no reason for a job to die.
      return {
        fence,
        status: "queued",
        delayMs: outcome.delayMs ?? 0,
        attemptsBack: outcome.isAttemptSpent && attempt < maxAttempts ? 0 : 1,
      };
    case "done":
      throw new TypeError("A job that is done is not put back.");
  }
}

function list(batch: readonly Settlement[], value: (settlement: Settlement) => string | number): string {
  return `{${batch.map(value).join(",")}}`;
}

/** By id as a number: the order in which all statements lock. */
function byId(a: Settlement, b: Settlement): number {
  const [x, y] = [a.attempt.id, b.attempt.id];
  return x.length - y.length || (x < y ? -1 : x > y ? 1 : 0);
}
