import type { Statement, WorkerStatements } from "@queue/core/internal";
import { type Database, databaseError } from "../database/database.js";
import type { Completions, CompletionsSending } from "../exchange/exchange.js";
import type { Outcome } from "../run/decide-outcome.js";
import type { RunningAttempt } from "../run/running-attempt.js";
import type { Clock } from "../time/clock.js";
import { deferred } from "../time/deferred.js";
import { retryDelayMs } from "../time/retry-delay.js";
import { hasForeignText, inAscii, untranslatable } from "./error-text.js";
import { toRequeue } from "./to-requeue.js";

export interface SettlerOptions {
  readonly database: Database;
  readonly statements: Pick<WorkerStatements, "completeJobs" | "extendLeases" | "requeueJobs">;
  readonly worker: string;
  readonly leaseMs: number;
  readonly clock: Clock;
  /** There are completions to take. */
  readonly onCompletions: () => void;
  /** The outcome is in the table, or, when not `isRecorded`, the fence refused it. */
  readonly onSettled: (attempt: RunningAttempt, outcome: Outcome, isRecorded: boolean) => void;
  readonly onError: (error: unknown) => void;
}

interface Settlement {
  readonly attempt: RunningAttempt;
  readonly outcome: Outcome;
}

/** How a batch of outcomes is written. */
interface Writing {
  /** The ids that were recorded. */
  run(batch: readonly Settlement[]): Promise<readonly string[]>;
}

/** One statement; a batch beyond it waits for the next. */
const largestBatch = 1_000;
/** So often the database may refuse one outcome for good, which another statement may have caused, before it is given up. */
const mostRefusals = 3;
/** A row that somebody has locked is tried again soon, and then more seldom: the lock may be a heartbeat's, or a person's. */
const shortestHeldDelayMs = 5;
const longestHeldDelayMs = 250;

/**
 * Writes the outcomes of attempts: completions through the exchange, which sends them together with the next claim, all others
 * by a statement of their own. What comes while one is on its way gathers for the next.
 *
 * A batch that fails is tried again until it succeeds or its leases are gone; when the database refuses it for good, item by
 * item, so that one outcome that cannot be written does not hold back the others. It is given up after a few tries: its lease
 * runs out, and the sweep decides. A row that somebody keeps locked is skipped, and tried again apart from the others.
 */
export class Settler {
  readonly #options: SettlerOptions;
  readonly #completing: Writing;
  readonly #requeueing: Writing;
  #completions: Settlement[] = [];
  #others: Settlement[] = [];
  #isRequeueing = false;
  #isAbandoned = false;
  #underWay = 0;
  #waiting: (() => void)[] = [];

  constructor(options: SettlerOptions) {
    const { statements, worker, database } = options;
    const write = <TInput>(statement: Statement<TInput, { id: string }>, input: TInput) =>
      database.run(statement, input).then((rows) => rows.map(({ id }) => id));
    this.#options = options;
    this.#completing = { run: (batch) => write(statements.completeJobs, { ...toCompletions(batch), worker }) };
    this.#requeueing = { run: (batch) => write(statements.requeueJobs, { jobs: toRequeues(batch), worker }) };
  }

  /** Outcomes that are not in the table yet. */
  get backlog(): number {
    return this.#completions.length + this.#others.length + this.#underWay;
  }

  settle(attempt: RunningAttempt, outcome: Outcome): void {
    if (outcome.type === "done") {
      this.#completions.push({ attempt, outcome });
      this.#options.onCompletions();
    } else {
      this.#others.push({ attempt, outcome });
      void this.#requeue();
    }
  }

  /** The next batch of completions, in the order in which all statements lock. Whoever takes it sends it. */
  takeCompletions(): CompletionsSending | undefined {
    const batch = this.#nextBatch(this.#completions);
    if (batch.length === 0) return undefined;
    const answer = deferred<readonly string[]>();
    void this.#write(batch, this.#completing, answer.promise);
    return { input: toCompletions(batch), onAnswer: answer.resolve, onError: answer.reject };
  }

  /** Resolves when everything handed over so far is recorded or lost. */
  async drain(): Promise<void> {
    while (this.backlog > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Tries no more: what is not recorded by now runs again when its lease has run out. */
  abandon(): void {
    this.#isAbandoned = true;
  }

  async #requeue(): Promise<void> {
    if (this.#isRequeueing) return;
    this.#isRequeueing = true;
    // In a microtask of its own, so that handlers that end in the same turn share the first batch.
    await Promise.resolve();
    for (let batch = this.#nextBatch(this.#others); batch.length > 0; batch = this.#nextBatch(this.#others)) {
      await this.#write(batch, this.#requeueing, this.#requeueing.run(batch));
    }
    // In the same turn as the look above: what is handed over from now on begins anew.
    this.#isRequeueing = false;
  }

  /** Empty when nothing is left that can be written. */
  #nextBatch(pending: Settlement[]): Settlement[] {
    while (pending.length > 0) {
      const batch = pending.splice(0, largestBatch);
      this.#underWay += batch.length;
      const alive = this.#withoutLost(batch);
      if (alive.length > 0) return alive.sort(byId);
    }
    return [];
  }

  #end({ attempt, outcome }: Settlement, isRecorded: boolean): void {
    this.#underWay -= 1;
    this.#options.onSettled(attempt, outcome, isRecorded);
    if (this.backlog === 0) for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #withoutLost(batch: readonly Settlement[]): Settlement[] {
    for (const one of batch) if (one.attempt.isLost) this.#end(one, false);
    return batch.filter(({ attempt }) => !attempt.isLost);
  }

  /** `answer`: of the first try, which is under way. */
  async #write(batch: readonly Settlement[], writing: Writing, answer: Promise<readonly string[]>): Promise<void> {
    const { clock, onError } = this.#options;
    for (let tries = 1; batch.length > 0; tries++) {
      try {
        const skipped = this.#record(batch, await (tries === 1 ? answer : writing.run(batch)));
        // Apart: whoever waits for this batch does not wait for them.
        if (skipped.length > 0) void this.#writeSkipped(skipped, writing);
        return;
      } catch (error) {
        if (this.#isAbandoned) return this.#giveUp(batch);
        const failure = databaseError(`Recording ${batch.length} outcomes failed (try ${tries})`, error);
        onError(failure);
        const isRefused = !failure.isRetryable && !isOfSchema(failure.sqlState);
        if (failure.sqlState === untranslatable && batch.some(({ outcome }) => hasForeignText(outcome))) {
          batch = batch.map((one) => ({ ...one, outcome: inAscii(one.outcome) }));
          continue;
        }
        if (isRefused && batch.length > 1) {
          await Promise.all(batch.map((one) => this.#write([one], writing, writing.run([one]))));
          return;
        }
        if (isRefused && tries >= mostRefusals) return this.#giveUp(batch);
        await new Promise<void>((resolve) => clock.after(retryDelayMs(tries), resolve));
        batch = this.#withoutLost(batch);
        if (this.#isAbandoned) return this.#giveUp(batch);
      }
    }
  }

  /** What was not recorded: locked by somebody, who may yet roll back, or not ours any more. */
  async #writeSkipped(skipped: readonly Settlement[], writing: Writing): Promise<void> {
    const { clock, onError } = this.#options;
    let locked = this.#withoutLost(skipped);
    for (let tries = 0; locked.length > 0; tries++) {
      try {
        const { free, held } = await this.#endRefused(locked);
        locked = held;
        if (free.length > 0) void this.#write(free, writing, writing.run(free));
      } catch (error) {
        onError(databaseError(`Recording ${locked.length} outcomes failed`, error));
      }
      const delayMs = Math.min(longestHeldDelayMs, shortestHeldDelayMs * 2 ** tries);
      if (locked.length > 0) await new Promise<void>((resolve) => clock.after(delayMs, resolve));
      locked = this.#withoutLost(locked);
      if (this.#isAbandoned) return this.#giveUp(locked);
    }
  }

  /** Ends what was recorded, and returns the others. */
  #record(batch: readonly Settlement[], ids: readonly string[]): Settlement[] {
    const recorded = new Set(ids);
    for (const one of batch) if (recorded.has(one.attempt.id)) this.#end(one, true);
    return batch.filter(({ attempt }) => !recorded.has(attempt.id));
  }

  /** Ends what the fence refuses; of what still belongs to its claim, the lease is extended where the row is free. */
  async #endRefused(batch: readonly Settlement[]): Promise<{ readonly free: Settlement[]; readonly held: Settlement[] }> {
    const { database, statements, worker, leaseMs } = this.#options;
    const { ids, fences } = toCompletions(batch);
    const answers = new Map((await database.run(statements.extendLeases, { ids, fences, worker, leaseMs })).map((row) => [row.id, row]));
    const answerTo = ({ attempt }: Settlement) => answers.get(attempt.id);
    for (const one of batch) if (answerTo(one)?.held !== true) this.#end(one, false);
    const ours = batch.filter((one) => answerTo(one)?.held === true);
    return { free: ours.filter((one) => answerTo(one)?.extended), held: ours.filter((one) => answerTo(one)?.extended !== true) };
  }

  #giveUp(batch: readonly Settlement[]): void {
    for (const one of batch) this.#end(one, false);
  }
}

/** Missing tables or rights are no fault of an outcome: somebody is at work on the schema. */
function isOfSchema(sqlState: string | undefined): boolean {
  return sqlState?.startsWith("42") === true || sqlState?.startsWith("3F") === true;
}

function toCompletions(batch: readonly Settlement[]): Completions {
  return {
    ids: list(batch, ({ attempt }) => attempt.id),
    fences: list(batch, ({ attempt }) => attempt.fence),
    keeps: list(batch, ({ attempt }) => attempt.kind.options.keepMs ?? -1),
  };
}

function toRequeues(batch: readonly Settlement[]): string {
  return JSON.stringify(Object.fromEntries(batch.map(({ attempt, outcome }) => [attempt.id, toRequeue(attempt, outcome)])));
}

function list(batch: readonly Settlement[], value: (settlement: Settlement) => string | number): string {
  return `{${batch.map(value).join(",")}}`;
}

/** By id as a number: the order in which all statements lock. */
function byId(a: Settlement, b: Settlement): number {
  const [x, y] = [a.attempt.id, b.attempt.id];
  return x.length - y.length || (x < y ? -1 : x > y ? 1 : 0);
}
