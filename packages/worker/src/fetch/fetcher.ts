import { type ClaimedRow, type ClaimGroup, type LaneAhead, toArrayLiteral, type WorkerStatements } from "@queue/core/internal";
import type { Database } from "../database/database.js";
import type { Slots } from "../run/slots.js";
import { Alarm } from "../time/alarm.js";
import type { Clock } from "../time/clock.js";
import { retryDelayMs } from "../time/retry-delay.js";
import type { Lines } from "./lines.js";

export interface FetcherOptions {
  readonly database: Database;
  readonly statements: Pick<WorkerStatements, "claimJobs" | "lookAhead" | "releaseUnknownJobs">;
  readonly worker: string;
  readonly clock: Clock;
  readonly lines: Lines;
  readonly slots: Slots;
  readonly kinds: readonly string[];
  readonly leaseMs: number;
  readonly pollIntervalMs: number;
  /** Outcomes that are not written yet: beyond `concurrency` of them, claiming waits. */
  readonly backlog: () => number;
  readonly concurrency: number;
  /** The ids that this worker holds and knows of. */
  readonly known: () => readonly string[];
  /** Takes over a job that was claimed; `sentAtMs` is when the claim was sent. */
  readonly onClaimed: (row: ClaimedRow, sentAtMs: number) => void;
  readonly onError: (error: unknown) => void;
}

/** One claim; more would hold the answer, and the handlers of its first jobs, back. */
const largestClaim = 500;
/** A look ahead may take this share of the time: with millions of dead rows in its way, it is made more seldom. */
const lookShare = 1 / 20;
/** Jobs that are due one after the other share a look. */
const shortestTimerMs = 5;

/**
 * Claims jobs for the free slots, again and again until a claim comes back short: one wake-up is enough for a thousand jobs.
 * Then it sleeps until a notification, a slot that becomes free, the next due time that it knows of, or the poll.
 *
 * Nothing is missed between a claim and the sleep: what commits after the claim's snapshot rings, and a ring is kept until the
 * next sleep. What commits while LISTEN is down is found by the poll, and at once when LISTEN is up again.
 */
export class Fetcher {
  readonly #options: FetcherOptions;
  readonly #alarm: Alarm;
  #isStopping = false;
  #running: Promise<void> | undefined;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #lookIntervalMs: number;
  /** Something may wait where nothing was known: look before the next claim. */
  #mustLook = true;
  /** The last claim took all that it had slots for, in all or in a lane: there may be more. */
  #isSaturated = false;
  /** Claims whose answer is not here: they may have taken jobs that nobody here knows of. */
  #lostClaims = 0;
  #nextLook: { readonly atMs: number; readonly cancel: () => void } | undefined;

  constructor(options: FetcherOptions) {
    this.#options = options;
    this.#alarm = new Alarm(options.clock);
    this.#lookIntervalMs = options.pollIntervalMs;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Claims now. */
  wake(): void {
    this.#alarm.ring();
  }

  /** A slot is free, or an outcome is written: claims if there was not enough room before. */
  onRoom(): void {
    if (this.#isSaturated) this.#alarm.ring();
  }

  /** Looks when a job becomes due. Of several moments the earliest counts: the look then finds the next. */
  lookAfter(ms: number): void {
    const { clock } = this.#options;
    const inMs = Math.max(shortestTimerMs, ms + 1);
    const atMs = clock.now() + inMs;
    if (this.#isStopping || (this.#nextLook !== undefined && this.#nextLook.atMs <= atMs)) return;
    this.#forgetNextLook();
    this.#nextLook = { atMs, cancel: clock.after(inMs, () => this.lookEverywhere()) };
  }

  /** Looks at everything, and claims: something happened that names no line, or may have been missed. */
  lookEverywhere(): void {
    this.#mustLook = true;
    this.#alarm.ring();
  }

  /** Resolves when no claim is under way any more. Safe to call twice. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#alarm.ring();
    await this.#running;
    this.#forgetNextLook();
    if (this.#lostClaims > 0) await this.#releaseUnknown().catch(this.#options.onError);
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** One claim. True when everything that was due, and that there were slots for, has been claimed. */
  async runOnce(): Promise<boolean> {
    const { clock, slots, backlog, concurrency } = this.#options;
    if (this.#mustLook || clock.now() - this.#lookedAtMs >= this.#lookIntervalMs) await this.#look();
    const limit = Math.min(slots.free, largestClaim);
    if (limit <= 0 || backlog() > Math.max(concurrency, 100)) {
      this.#isSaturated = true;
      return true;
    }
    return this.#claim(limit);
  }

  async #run(): Promise<void> {
    for (let failures = 0; !this.#isStopping;) {
      let sleepMs = Math.min(this.#options.pollIntervalMs, this.#lookIntervalMs) * (0.9 + Math.random() / 5);
      try {
        const isDrained = await this.runOnce();
        failures = 0;
        if (!isDrained) continue;
      } catch (error) {
        failures += 1;
        this.#options.onError(error);
        sleepMs = retryDelayMs(failures);
      }
      if (!this.#isStopping) await this.#alarm.sleep(sleepMs);
    }
  }

  async #claim(limit: number): Promise<boolean> {
    const { database, statements, worker, clock, lines, slots, kinds, leaseMs, onClaimed } = this.#options;
    const groups = lines.groups((lane) => slots.freeIn(lane), slots.free);
    const open = groups.filter(({ take }) => take > 0);
    if (open.length === 0) {
      this.#isSaturated = true;
      return true;
    }
    if (this.#lostClaims > 0) await this.#releaseUnknown();
    const sentAtMs = clock.now();
    const input = { groups: JSON.stringify(open), kinds: toArrayLiteral(kinds), limit, worker, leaseMs };
    this.#lostClaims += 1;
    const rows = await database.run(statements.claimJobs, input, () => this.#claimedLate());
    this.#lostClaims -= 1;
    const full = groups.filter((group) => rows.filter(({ lane }) => lane === laneOf(group)).length >= group.take);
    this.#isSaturated = rows.length === limit || full.length > 0;
    for (const row of rows.sort(inOrder)) onClaimed(row, sentAtMs);
    // A slot of a full lane that became free while the claim was under way has rung for nobody.
    return rows.length < limit && !full.some((group) => slots.freeIn(laneOf(group)) > 0);
  }

  /** A claim that was given up has been carried out all the same, perhaps after what it took was looked for. */
  #claimedLate(): void {
    this.#lostClaims += 1;
    if (this.#isStopping) void this.#releaseUnknown().catch(this.#options.onError);
    else this.#alarm.ring();
  }

  /** No claim is awaited now, so what is ours in the table and not known here came from one whose answer was lost. */
  async #releaseUnknown(): Promise<void> {
    const found = this.#lostClaims;
    const { database, statements, worker, known } = this.#options;
    await database.run(statements.releaseUnknownJobs, { worker, known: `{${known().join(",")}}` });
    this.#lostClaims -= found;
  }

  /** Which lines have jobs, and when the next one is due. Before a claim, so that what becomes due in between is claimed. */
  async #look(): Promise<void> {
    const { database, statements, clock, lines, kinds, pollIntervalMs } = this.#options;
    const beganAtMs = clock.now();
    const mustLook = this.#mustLook;
    this.#mustLook = false;
    this.#forgetNextLook();
    let ahead: LaneAhead[];
    try {
      ahead = await database.run(statements.lookAhead, { kinds: toArrayLiteral(kinds) });
    } catch (error) {
      this.#mustLook = mustLook;
      throw error;
    }
    this.#lookedAtMs = clock.now();
    this.#lookIntervalMs = Math.max(pollIntervalMs, (this.#lookedAtMs - beganAtMs) / lookShare);
    lines.replace(ahead);
    const dueInMs = ahead.flatMap(({ lane, due_in_ms }) => (due_in_ms === null || !lines.isServed(lane) ? [] : [Number(due_in_ms)]));
    if (dueInMs.length > 0) this.lookAfter(Math.min(...dueInMs));
  }

  #forgetNextLook(): void {
    this.#nextLook?.cancel();
    this.#nextLook = undefined;
  }
}

/** The lane of a group that has a ceiling; lanes without one are never full by themselves. */
function laneOf(group: ClaimGroup): string {
  return group.lines[0]?.lane ?? "";
}

/** What is first in its line is started first. */
function inOrder(a: ClaimedRow, b: ClaimedRow): number {
  return a.priority - b.priority || Number(a.run_at) - Number(b.run_at) || Number(a.id) - Number(b.id);
}
