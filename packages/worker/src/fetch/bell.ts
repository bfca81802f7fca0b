import type { Executor } from "@queue/core/adapter";
import { type ArmedBell, runStatement, type Statement, toArrayLiteral, type WorkerStatements } from "@queue/core/internal";
import type { Clock } from "../time/clock.js";
import { retryDelayMs } from "../time/retry-delay.js";

export interface BellOptions {
  readonly statements: Pick<WorkerStatements, "armBell" | "isBellSettled" | "muteBell">;
  /** The listener's connection while it is up: it holds the keys, so that they go when nobody listens any more. */
  readonly executor: () => Executor | undefined;
  /** The lanes that this worker serves; undefined: all. */
  readonly lanes: readonly string[] | undefined;
  readonly clock: Clock;
  readonly pollIntervalMs: number;
  /** Claims in the lines that are known. */
  readonly onPoll: () => void;
  /** Looks everywhere, and claims. */
  readonly onLook: () => void;
  readonly onError: (error: unknown) => void;
}

/** More rings a second, or more that bring nothing, and polling is cheaper for everybody. */
const mostRings = 200;
const mostVain = 25;
/** Fewer jobs a second than this, and it is worth being rung again. */
const fewJobs = 100;
const windowMs = 1_000;
/** How often it polls instead: as long as there is something, and when there is not. */
const shortestPollMs = 2;
const longestPollMs = 50;
/** How long it polls at least; doubled while it goes to and fro. */
const shortestRestMs = 500;
const longestRestMs = 8_000;
/** Somebody was looking at the keys in the moment in which they were taken. */
const againMs = 5;
/** More keys than this are not held: a worker with so many lanes is rung for all. */
const mostLanes = 100;

/**
 * Whether enqueues ring for this worker. A notification costs who enqueues: commits that notify wait for each other, and 32
 * clients bring a quarter of their jobs. So they ring only while somebody has armed the bell. A worker does when little
 * comes: a ring is then the quickest way to a job. When much comes, or others are always quicker, it mutes the bell and polls every
 * few milliseconds, which costs nobody anything, until little comes.
 *
 * No wake-up is lost. Who enqueues looks at the bell before it commits, so transactions that were open when it was armed may not
 * ring: the worker polls until they have ended, and looks once more. A crashed worker's keys go with its connection.
 */
export class Bell {
  readonly #options: BellOptions;
  readonly #lanes: string;
  #state: "silent" | "armed" | "muted" = "silent";
  /** Counts changes of the state: what was asked in an earlier one is void. */
  #era = 0;
  #cancelTimer = () => {};
  #window = emptyWindow(0);
  /** A ring came since the last claim. */
  #isRung = false;
  #pollMs = shortestPollMs;
  #restMs = shortestRestMs;
  #armedAtMs = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #isStopped = false;
  /** One at a time: an answer gives back what another one has just taken. */
  #isArming = false;
  /** Muting failed, or arming, and nobody knows what is held. */
  #mayHoldKeys = false;
  #claimsBefore = 0;

  constructor(options: BellOptions) {
    const { lanes = [] } = options;
    this.#options = options;
    this.#lanes = toArrayLiteral(lanes.length > mostLanes ? [] : lanes);
  }

  /** The listener has connected: what an earlier connection held is gone. */
  listening(): void {
    this.#enter("silent");
  }

  /** Notifications arrive on this connection, which some poolers swallow. */
  heard(): void {
    if (this.#state === "silent") this.#arm();
  }

  /** A job was announced. False: this worker polls, and comes to it when it is its turn. */
  rang(): boolean {
    if (this.#state === "muted") return false;
    const window = this.#currentWindow();
    window.rings += 1;
    this.#isRung = true;
    if (this.#state === "armed" && window.rings > mostRings) this.#mute();
    return true;
  }

  /** A claim was answered with so many jobs. */
  claimed(count: number): void {
    const window = this.#currentWindow();
    window.claims += 1;
    window.jobs += count;
    if (count === 0 && this.#isRung) window.vain += 1;
    this.#isRung = false;
    this.#pollMs = count > 0 ? Math.max(shortestPollMs, this.#pollMs / 2) : Math.min(longestPollMs, this.#pollMs * 1.5);
    if (this.#state === "armed" && window.vain > mostVain) this.#mute();
  }

  stop(): void {
    this.#isStopped = true;
    this.#enter("silent");
  }

  #enter(state: "silent" | "armed" | "muted"): void {
    this.#cancelTimer();
    this.#state = state;
    this.#era += 1;
    this.#isRung = false;
    this.#isArming = false;
    this.#claimsBefore = 0;
    this.#window = emptyWindow(this.#options.clock.now());
  }

  #arm(): void {
    const { statements, clock, executor, onLook } = this.#options;
    if (this.#isStopped || this.#isArming || executor() === undefined) return;
    this.#isArming = true;
    const failed = () => {
      this.#mayHoldKeys = true;
      this.#armLater(retryDelayMs(++this.#failures));
    };
    const armed = ([answer]: readonly ArmedBell[]) => {
      this.#failures = 0;
      const xid = answer?.xid ?? null;
      // Some of the keys may be held.
      if (xid === null) return this.#run(statements.muteBell, {}, () => this.#armLater(againMs), failed);
      this.#mayHoldKeys = false;
      this.#enter("armed");
      this.#armedAtMs = clock.now();
      onLook();
      this.#settle(xid, shortestPollMs);
    };
    this.#run(statements.armBell, { lanes: this.#lanes }, armed, failed);
  }

  /** A worker that polls tries again in its own time. */
  #armLater(ms: number): void {
    this.#isArming = false;
    if (this.#state === "silent") this.#after(ms, () => this.#arm());
  }

  /** Until all have ended that may not have heard of it. */
  #settle(xid: string, waitMs: number): void {
    const { statements, onLook, onPoll, pollIntervalMs } = this.#options;
    const again = () => {
      onPoll();
      this.#after(waitMs, () => this.#settle(xid, Math.min(waitMs * 1.5, pollIntervalMs)));
    };
    this.#run(statements.isBellSettled, { xid }, ([answer]) => (Number(answer?.settled) === 1 ? onLook() : again()), again);
  }

  #mute(): void {
    const { clock } = this.#options;
    const isToAndFro = clock.now() - this.#armedAtMs < longestRestMs;
    this.#restMs = isToAndFro ? Math.min(this.#restMs * 2, longestRestMs) : shortestRestMs;
    this.#enter("muted");
    this.#pollMs = shortestPollMs;
    this.#giveKeysBack();
    this.#after(this.#pollMs, () => this.#poll(clock.now() + this.#restMs));
  }

  #poll(restUntilMs: number): void {
    const { clock, onPoll } = this.#options;
    const { jobs, claims, sinceMs } = this.#window;
    // No claim was made: all slots are taken.
    if (claims === this.#claimsBefore) this.#pollMs = Math.min(longestPollMs, this.#pollMs * 1.5);
    const isOver = clock.now() >= restUntilMs;
    // No claim at all: all slots are taken, and nobody knows how much comes.
    const isQuiet = claims > 0 && (jobs * 1_000) / (clock.now() - sinceMs) < fewJobs;
    if (isOver) this.#window = emptyWindow(clock.now());
    this.#claimsBefore = isOver ? 0 : claims;
    if (isOver && this.#mayHoldKeys) this.#giveKeysBack();
    if (isOver && isQuiet) this.#arm();
    onPoll();
    this.#after(this.#pollMs, () => this.#poll(isOver ? clock.now() + this.#restMs : restUntilMs));
  }

  #giveKeysBack(): void {
    this.#mayHoldKeys = true;
    this.#run(this.#options.statements.muteBell, {}, () => {
      this.#mayHoldKeys = false;
    });
  }

  /** A second's worth, so that it never grows old; while it polls, its end is judged by `#poll`. */
  #currentWindow() {
    const nowMs = this.#options.clock.now();
    if (this.#state !== "muted" && nowMs - this.#window.sinceMs > windowMs) {
      this.#window = emptyWindow(nowMs);
    }
    return this.#window;
  }

  #after(ms: number, callback: () => void): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#options.clock.after(ms, callback);
  }

  /** Runs a statement on the listener's connection; its answer counts if nothing has changed meanwhile. */
  #run<TInput, TRow>(
    statement: Statement<TInput, TRow>,
    input: TInput,
    onAnswer: (rows: readonly TRow[]) => void,
    onFailed: () => void = () => {},
  ): void {
    const executor = this.#options.executor();
    // Without a connection nothing is held; when there is one again, `listening` begins anew.
    if (executor === undefined) return;
    const era = this.#era;
    runStatement(executor, statement, input).then(
      (rows) => {
        if (era === this.#era) onAnswer(rows);
      },
      (error: unknown) => {
        if (this.#options.executor() !== undefined) this.#options.onError(error);
        if (era === this.#era) onFailed();
      },
    );
  }
}

function emptyWindow(sinceMs: number) {
  return { sinceMs, rings: 0, vain: 0, jobs: 0, claims: 0 };
}
