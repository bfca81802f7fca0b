import { type ClaimedRow, type Kind, queueError } from "@queue/core/internal";
import { leaseLost } from "../lease/lease-keeper.js";
import type { Reporter } from "../report/reporter.js";
import type { Clock } from "../time/clock.js";
import type { AttemptResult } from "./attempt-runner.js";
import type { Outcome } from "./decide-outcome.js";
import { abortAttempt, loseAttempt, newAttempt, type RunningAttempt, type RunningAttempts } from "./running-attempt.js";
import type { Slots } from "./slots.js";
import { StartQueue } from "./start-queue.js";

export interface JobFlowOptions {
  readonly kinds: ReadonlyMap<string, Kind>;
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly clock: Clock;
  readonly attempts: RunningAttempts;
  readonly slots: Slots;
  readonly reporter: Pick<Reporter, "started" | "recorded" | "refused">;
  readonly run: (attempt: RunningAttempt) => Promise<AttemptResult>;
  readonly settle: (attempt: RunningAttempt, outcome: Outcome) => void;
  /** The worker begins nothing more. */
  readonly isStopping: () => boolean;
  /** A job was lost before its handler started. */
  readonly onUnbegun: (attempt: RunningAttempt) => void;
  /** A handler has ended, and its slot is free. */
  readonly onSlotFree: () => void;
  /** Jobs that waited here for a slot are given back. */
  readonly onWaitedTooLong: () => void;
  /** An attempt has ended; `dueInMs`: its job was put back, and is due then. */
  readonly onEnded: (dueInMs: number | undefined) => void;
  /** A job has its place in its line again, where claims have passed; `isForOthers`: because others may begin it sooner. */
  readonly onGivenBack: (row: ClaimedRow, isForOthers: boolean) => void;
}

/** Enough for every job that a worker can lose in one incident. */
const mostRemembered = 10_000;

/** The way of a job through this process: from its claim over its handler to its outcome, which counts once. */
export class JobFlow {
  readonly #options: JobFlowOptions;
  readonly #startQueue: StartQueue;
  #hasGivenBack = false;
  readonly #waitedTooLong = new WeakSet<RunningAttempt>();
  /** Attempts that began here and were lost: `"job/attempt"`, the latest of them. */
  readonly #begunAndLost = new Set<string>();

  constructor(options: JobFlowOptions) {
    this.#options = options;
    this.#startQueue = new StartQueue({
      ...options,
      start: (attempt) => void this.#run(attempt),
      onWaitedTooLong: (attempts) => {
        options.onWaitedTooLong();
        for (const attempt of attempts) {
          this.#waitedTooLong.add(attempt);
          this.#giveBackUnbegun(attempt);
        }
      },
    });
  }

  /** A job was put back that others may begin now. */
  get hasGivenBack(): boolean {
    return this.#hasGivenBack;
  }

  /** Whether the handler of this attempt was started here. */
  hasBegun(id: string, attempt: number): boolean {
    const isRunning = this.#options.attempts.all().some((one) => one.id === id && one.attempt === attempt);
    return isRunning || this.#begunAndLost.has(`${id}/${attempt}`);
  }

  begin(row: ClaimedRow, sentAtMs: number): void {
    const { kinds, clock, leaseMs, attempts, slots, isStopping } = this.#options;
    const kind = kinds.get(row.kind);
    if (kind === undefined) throw new TypeError(`Claimed the kind ${JSON.stringify(row.kind)}, which was not asked for.`);
    const attempt = newAttempt(row, kind, { startedAtMs: clock.now(), leaseUntilMs: sentAtMs + leaseMs });
    // Returned to the queue while it ran here: by a sweep, after this process stood still for a lease.
    const before = attempts.get(row.id);
    if (before !== undefined) loseAttempt(before, leaseLost(row.id, "it ran out, and the job was claimed again"));
    attempts.add(attempt);
    slots.take(row.lane);
    // Claimed by a statement that was on its way when the stop began: never started, so it costs no attempt.
    if (isStopping()) this.#giveBackUnbegun(attempt);
    else this.#startQueue.add(attempt);
  }

  /** Nothing that waits for a slot begins any more. */
  giveBackWaiting(): void {
    for (const attempt of this.#startQueue.takeAll()) this.#giveBackUnbegun(attempt);
  }

  /** The outcome is in the table, or, when not `isRecorded`, the fence refused it. */
  settled(attempt: RunningAttempt, outcome: Outcome, isRecorded: boolean): void {
    const { attempts, reporter, onEnded, onGivenBack, onUnbegun } = this.#options;
    attempts.delete(attempt);
    // The trigger rings for new jobs only: what this process put back, it looks after itself.
    onEnded(isRecorded && "delayMs" in outcome ? outcome.delayMs : undefined);
    if (!isRecorded) {
      if (attempt.isBegun) this.#noteBegun(attempt);
      else onUnbegun(attempt);
      return reporter.refused(attempt, outcome);
    }
    if (outcome.type === "released") {
      this.#hasGivenBack = true;
      onGivenBack(attempt.row, this.#waitedTooLong.has(attempt));
    }
    reporter.recorded(attempt, outcome);
  }

  /** The grace of a stop is over. */
  abortAll(): void {
    for (const attempt of this.#options.attempts.all()) {
      abortAttempt(
        attempt,
        queueError("WORKER_STOPPING", `The worker stops, and its grace is over: job ${attempt.id} is given back.`, { jobId: attempt.id }),
      );
    }
  }

  /** Handlers that go on all the same: their fence no longer holds, and another worker may begin at once. */
  releaseAll(): void {
    for (const attempt of this.#options.attempts.all()) {
      this.#handOver(attempt, { type: "released", isAttemptSpent: attempt.isBegun });
    }
  }

  #noteBegun({ id, attempt }: RunningAttempt): void {
    this.#begunAndLost.add(`${id}/${attempt}`);
    for (const oldest of this.#begunAndLost) {
      if (this.#begunAndLost.size <= mostRemembered) break;
      this.#begunAndLost.delete(oldest);
    }
  }

  async #run(attempt: RunningAttempt): Promise<void> {
    const { slots, clock, reporter, run, onSlotFree } = this.#options;
    attempt.startedAtMs = clock.now();
    // One that was cancelled, or lost, while it waited for its slot does not begin.
    if (attempt.abortedBy === undefined) reporter.started(attempt);
    const result = await run(attempt);
    if (result.type === "unsettled") this.#handOver(attempt, result.outcome);
    else if (result.type === "settled") this.settled(attempt, result.outcome, true);
    else if (!attempt.isHandedOver) this.settled(attempt, { type: "done" }, false);
    // The slot is free when the handler has returned, not when its outcome has landed.
    onSlotFree();
    this.#startQueue.ended();
    slots.release(attempt.row.lane);
  }

  #giveBackUnbegun(attempt: RunningAttempt): void {
    this.#handOver(attempt, { type: "released", isAttemptSpent: false });
    this.#options.slots.release(attempt.row.lane);
  }

  /** The first outcome counts: a job that was given back at a stop is not completed by a handler that returns later. */
  #handOver(attempt: RunningAttempt, outcome: Outcome): void {
    if (attempt.isHandedOver) return;
    attempt.isHandedOver = true;
    this.#options.settle(attempt, outcome);
  }
}
