import { toArrayLiteral, type WorkerStatements } from "@queue/core/internal";
import type { Database } from "../database/database.js";
import { Loop } from "../lifecycle/loop.js";
import type { Clock } from "../time/clock.js";
import type { Lines } from "./lines.js";

export interface LookoutOptions {
  readonly database: Database;
  readonly statements: Pick<WorkerStatements, "findNextDue" | "lookAhead" | "lookBehind">;
  readonly clock: Clock;
  readonly lines: Lines;
  readonly kinds: readonly string[];
  /** There may be something to claim. */
  readonly onFound: () => void;
  readonly onError: (error: unknown) => void;
}

/** A look for lines may take this share of the time: with millions of dead rows in its way, it is made more seldom. */
const lookShare = 1 / 50;
/** The same for a look behind, which reads everything that is due. */
const behindShare = 1 / 200;
const shortestBehindMs = 60_000;
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
  /** The next look is for lines that are not known, too. */
  #isForLines = false;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #lookTookMs = 0;
  #behindDueAtMs = Number.NEGATIVE_INFINITY;
  #timer: { readonly atMs: number; readonly cancel: () => void } | undefined;

  constructor(options: LookoutOptions) {
    this.#options = options;
    this.#behind = new Loop({
      clock: options.clock,
      intervalMs: shortestBehindMs,
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
    this.#claimAndLook(true);
  }

  /** A line was told where something will be due. */
  lookInLines(): void {
    const { onFound, onError } = this.#options;
    if (!this.#isStopping) this.#look(false).then(onFound, onError);
  }

  /** Looks when a job becomes due. Of several moments the earliest counts: the look then finds the next. */
  lookAfter(ms: number): void {
    const { clock } = this.#options;
    const inMs = Math.max(shortestTimerMs, ms + 1);
    const atMs = clock.now() + inMs;
    if (this.#isStopping || (this.#timer !== undefined && this.#timer.atMs <= atMs)) return;
    this.#forgetTimer();
    this.#timer = { atMs, cancel: clock.after(inMs, () => this.#claimAndLook(false)) };
  }

  /** Looks, if the last look is so long ago, and did not take so long that its share of the time is used up. */
  async lookEvery(ms: number): Promise<void> {
    if (this.#options.clock.now() - this.#lookedAtMs >= Math.max(ms, this.#lookTookMs / lookShare)) await this.look();
  }

  /** Which lines have jobs, and when the next one is due. Of a look that is under way, the next one is waited for. */
  look(): Promise<void> {
    return this.#look(true);
  }

  async #look(isForLines: boolean): Promise<void> {
    this.#isForLines ||= isForLines;
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
    this.#behindDueAtMs = clock.now() + (clock.now() - beganAtMs) / behindShare;
    for (const { lane, priority, run_at } of found) lines.add({ lane, priority }, Number(run_at));
    if (found.length > 0) onFound();
  }

  async #lookUntilSeen(): Promise<void> {
    do {
      this.#mustLookAgain = false;
      await this.#lookOnce();
    } while (this.#mustLookAgain && !this.#isStopping);
  }

  async #lookOnce(): Promise<void> {
    const isForLines = this.#isForLines;
    this.#isForLines = false;
    this.#forgetTimer();
    try {
      const dueInMs = await (isForLines ? this.#lookForLines() : this.#lookInLines());
      if (dueInMs !== undefined) this.lookAfter(dueInMs);
    } catch (error) {
      this.#isForLines ||= isForLines;
      this.lookAfter(againMs);
      throw error;
    }
  }

  /** Which lines have jobs; in how many milliseconds the next one is due that is served here. */
  async #lookForLines(): Promise<number | undefined> {
    const { database, statements, clock, lines, kinds } = this.#options;
    const beganAtMs = clock.now();
    const ahead = await database.run(statements.lookAhead, { kinds: toArrayLiteral(kinds) });
    this.#lookedAtMs = clock.now();
    this.#lookTookMs = this.#lookedAtMs - beganAtMs;
    lines.replace(ahead);
    const dueInMs = ahead.flatMap(({ lane, due_in_ms }) => (due_in_ms === null || !lines.isServed(lane) ? [] : [Number(due_in_ms)]));
    return dueInMs.length === 0 ? undefined : Math.min(...dueInMs);
  }

  /** In how many milliseconds the next job of the lines is due that are known. */
  async #lookInLines(): Promise<number | undefined> {
    const { database, statements, lines, kinds } = this.#options;
    const input = { lines: JSON.stringify(lines.known()), kinds: toArrayLiteral(kinds) };
    const [next] = await database.run(statements.findNextDue, input);
    return next?.due_in_ms == null ? undefined : Number(next.due_in_ms);
  }

  #claimAndLook(isForLines: boolean): void {
    const { onFound, onError } = this.#options;
    onFound();
    // Once more: what became due, or was found, after that claim.
    this.#look(isForLines).then(onFound, onError);
  }

  #forgetTimer(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
