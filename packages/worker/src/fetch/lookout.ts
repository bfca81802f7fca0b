import { type LaneAhead, toArrayLiteral, type WorkerStatements } from "@queue/core/internal";
import type { Database } from "../database/database.js";
import { Loop } from "../lifecycle/loop.js";
import type { Clock } from "../time/clock.js";
import type { Lines } from "./lines.js";

export interface LookoutOptions {
  readonly database: Database;
  readonly statements: Pick<WorkerStatements, "lookAhead" | "lookBehind">;
  readonly clock: Clock;
  readonly lines: Lines;
  readonly kinds: readonly string[];
  /** There may be something to claim. */
  readonly onFound: () => void;
  readonly onError: (error: unknown) => void;
}

/** A look may take this share of the time: with many lines it is made more seldom. */
const lookShare = 1 / 50;
/** The same for what is made seldom: a look behind, which reads everything that is due, and one that forgets lines without jobs. */
const seldomShare = 1 / 200;
const seldomMs = 60_000;
/** Jobs that are due one after the other share a look. */
const shortestTimerMs = 5;
/** A look that failed is made again. */
const againMs = 500;

/**
 * Looks where there are jobs, beside the claims and never in their way: which lines have some, when the next one will be due,
 * and, seldom, whether something was left behind far below the cursors.
 */
export class Lookout {
  readonly #options: LookoutOptions;
  readonly #behind: Loop;
  #isStopping = false;
  #looking: Promise<void> | undefined;
  /** Somebody asked while a look was under way, which may not see why. */
  #mustLookAgain = false;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #lookTookMs = 0;
  #forgetsAtMs = Number.NEGATIVE_INFINITY;
  #behindDueAtMs = Number.NEGATIVE_INFINITY;
  #timer: { readonly atMs: number; readonly cancel: () => void } | undefined;

  constructor(options: LookoutOptions) {
    this.#options = options;
    this.#behind = new Loop({
      clock: options.clock,
      intervalMs: seldomMs,
      runOnce: () => this.lookBehind(),
      onError: options.onError,
    });
  }

  start(): void {
    this.#behind.start();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#forgetTimer();
    await Promise.all([this.#behind.stop(), this.#looking?.catch(() => {})]);
    this.#forgetTimer();
  }

  /** Something happened that names no line, or may have been missed: claims, looks, and claims what the look has found. */
  lookEverywhere(): void {
    if (this.#isStopping) return;
    this.#options.lines.lookFarBelow();
    this.#claimAndLook();
  }

  /** A line was told where something will be due: looks, and claims what the look has found. */
  lookAndClaim(): void {
    const { onFound, onError } = this.#options;
    if (!this.#isStopping) this.look().then(onFound, onError);
  }

  /** Looks when a job becomes due. Of several moments the earliest counts: the look then finds the next. */
  lookAfter(ms: number): void {
    const { clock } = this.#options;
    const inMs = Math.max(shortestTimerMs, ms + 1);
    const atMs = clock.now() + inMs;
    if (this.#isStopping || (this.#timer !== undefined && this.#timer.atMs <= atMs)) return;
    this.#forgetTimer();
    this.#timer = { atMs, cancel: clock.after(inMs, () => this.#claimAndLook()) };
  }

  /** Looks, if the last look is so long ago, and did not take so long that its share of the time is used up. */
  async lookEvery(ms: number): Promise<void> {
    // Whoever polls does not ask for another look than the one that is under way.
    if (this.#looking !== undefined) return this.#looking;
    if (this.#options.clock.now() - this.#lookedAtMs >= Math.max(ms, this.#lookTookMs / lookShare)) await this.look();
  }

  /** Which lines have jobs, and when the next one is due. Of a look that is under way, the next one is waited for. */
  async look(): Promise<void> {
    if (this.#looking !== undefined) {
      this.#mustLookAgain = true;
      return this.#looking;
    }
    this.#looking = this.#lookUntilSeen();
    try {
      await this.#looking;
    } finally {
      this.#looking = undefined;
    }
  }

  /** Due jobs that no claim looks at any more. */
  async lookBehind(): Promise<void> {
    const { database, statements, clock, lines, kinds, onFound } = this.#options;
    const behind = lines.behind();
    if (behind.length === 0 || clock.now() < this.#behindDueAtMs) return;
    const beganAtMs = clock.now();
    const input = { lines: JSON.stringify(behind), kinds: toArrayLiteral(kinds) };
    const found = await database.run(statements.lookBehind, input);
    this.#behindDueAtMs = clock.now() + (clock.now() - beganAtMs) / seldomShare;
    for (const { lane, priority, run_at } of found) lines.add({ lane, priority }, Number(run_at));
    if (found.length > 0) onFound();
  }

  async #lookUntilSeen(): Promise<void> {
    do {
      this.#mustLookAgain = false;
      await this.#lookOnce();
    } while (this.#mustLookAgain && !this.#isStopping);
  }

  /**
   * Lines that are known are taken to have jobs, because to see that they have none, all that was claimed from them while a snapshot is
   * held has to be passed. That is done seldom, and after a failure, of which a line that was told may be the reason.
   */
  async #lookOnce(): Promise<void> {
    const { database, statements, clock, lines, kinds } = this.#options;
    const beganAtMs = clock.now();
    const forgets = beganAtMs >= this.#forgetsAtMs;
    const known = JSON.stringify(forgets ? [] : lines.known());
    this.#forgetTimer();
    let ahead: LaneAhead[];
    try {
      ahead = await database.run(statements.lookAhead, { known, kinds: toArrayLiteral(kinds) });
    } catch (error) {
      this.#forgetsAtMs = Number.NEGATIVE_INFINITY;
      this.lookAfter(againMs);
      throw error;
    }
    this.#lookedAtMs = clock.now();
    const tookMs = this.#lookedAtMs - beganAtMs;
    if (forgets) this.#forgetsAtMs = this.#lookedAtMs + Math.max(seldomMs, tookMs / seldomShare);
    else this.#lookTookMs = tookMs;
    lines.replace(ahead);
    const dueInMs = ahead.flatMap(({ lane, due_in_ms }) => (due_in_ms === null || !lines.isServed(lane) ? [] : [Number(due_in_ms)]));
    if (dueInMs.length > 0) this.lookAfter(Math.min(...dueInMs));
  }

  #claimAndLook(): void {
    this.#options.onFound();
    // Once more: what became due, or was found, after that claim.
    this.lookAndClaim();
  }

  #forgetTimer(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
