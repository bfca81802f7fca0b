import { type ClaimAnswer, type ClaimedRow, toArrayLiteral, type WorkerStatements } from "@queue/core/internal";
import type { Database } from "../database/database.js";
import type { ClaimSending } from "../exchange/exchange.js";
import { Loop } from "../lifecycle/loop.js";
import type { Slots } from "../run/slots.js";
import type { Clock } from "../time/clock.js";
import type { DatabaseClock } from "../time/database-clock.js";
import { retryDelayMs } from "../time/retry-delay.js";
import { type Claimable, ClaimableKinds, type TransactionalKinds } from "./claimable-kinds.js";
import { compareForStart } from "./claim-order.js";
import type { LineGroup, Lines } from "./lines.js";
import type { Lookout } from "./lookout.js";
import type { Prefetch } from "./prefetch.js";

export interface FetcherOptions {
  readonly database: Database;
  readonly statements: Pick<WorkerStatements, "releaseUnknownJobs">;
  readonly worker: string;
  readonly clock: Clock;
  readonly lines: Lines;
  readonly lookout: Lookout;
  readonly slots: Slots;
  readonly prefetch: Pick<Prefetch, "size">;
  readonly kinds: readonly string[];
  readonly leaseMs: number;
  readonly pollIntervalMs: number;
  /** Outcomes that are not written yet: beyond as many as may be here at once, claiming waits. */
  readonly backlog: () => number;
  readonly concurrency: number;
  /** The ids that this worker holds and knows of. */
  readonly known: () => readonly string[];
  /** There is a claim to take. */
  readonly onWanted: () => void;
  /** Answers to claims were lost, and what could be given back of them has been. */
  readonly onClaimsLost: () => void;
  /** Is told the database's time by each claim. */
  readonly databaseClock: DatabaseClock;
  readonly transactional: TransactionalKinds;
  /** Takes over a job that was claimed; `sentAtMs` is when the claim was sent. */
  readonly onClaimed: (row: ClaimedRow, sentAtMs: number) => void;
  /** A claim was answered with so many jobs. */
  readonly onAnswered: (count: number) => void;
  readonly onError: (error: unknown) => void;
}

/** A claim on its way. */
interface Sent {
  readonly number: number;
  readonly sentAtMs: number;
  readonly limit: number;
  readonly groups: readonly LineGroup[];
  readonly claimable: Claimable;
  readonly wakes: number;
  readonly giveBackSlots: () => void;
}

/** A pool that gave no transaction is not asked for more at once: others may have the jobs meanwhile. */
const noTransactionMs = 500;
/** One claim; more would hold the answer, and the handlers of its first jobs, back. */
const largestClaim = 500;

/**
 * Decides when to claim, and how much. It claims for the free slots, again and again until a claim comes back short: one wake-up
 * is enough for a thousand jobs. Then it waits for a notification, a slot that becomes free, the next due time that it knows
 * of, or the poll.
 *
 * Nothing is missed in between: what commits after a claim's snapshot rings, and a ring that comes while a claim is under way
 * leads to another. What commits while LISTEN is down is found by the poll, and at once when LISTEN is up again.
 */
export class Fetcher {
  readonly #options: FetcherOptions;
  readonly #poll: Loop;
  readonly #kinds: ClaimableKinds;
  /** There may be due jobs that no claim has been sent for. */
  #mayHaveMore = false;
  /** There were not enough slots for all that is due, in all or in a lane. */
  #isSaturated = false;
  /** The last claim brought all that it asked for. */
  #isPlenty = false;
  #wakes = 0;
  #sent = 0;
  /** The number of the last claim that brought all that it asked for. */
  #lastFull = 0;
  #underWay = 0;
  /** Claims whose answer is not here: they may have taken jobs that nobody here knows of. */
  #unanswered = 0;
  #isReleasing = false;
  #failures = 0;
  #endPause: (() => void) | undefined;
  #cancelTransactionPause = () => {};
  #isStopping = false;
  #waiting: { readonly resolve: () => void; readonly reject: (error: unknown) => void }[] = [];

  constructor(options: FetcherOptions) {
    this.#options = options;
    this.#kinds = new ClaimableKinds(options.kinds, options.transactional);
    this.#poll = new Loop({
      clock: options.clock,
      intervalMs: options.pollIntervalMs,
      runOnce: async () => {
        await options.lookout.lookEvery(options.pollIntervalMs / 2);
        this.wake();
      },
      onError: options.onError,
    });
  }

  /** Polls from now on. */
  start(): void {
    this.#poll.start();
  }

  /** Claims now. */
  wake(): void {
    this.#wakes += 1;
    this.#mayHaveMore = true;
    this.#options.onWanted();
  }

  /** A slot is free, or an outcome is written: claims if there was not enough room before. */
  onRoom(): void {
    if (this.#isSaturated) this.#mayHaveMore = true;
    if (this.#mayHaveMore) this.#options.onWanted();
  }

  /** The database gave no transaction in time. */
  noTransaction(): void {
    this.#cancelTransactionPause();
    this.#kinds.withoutTransactions();
    this.#cancelTransactionPause = this.#options.clock.after(noTransactionMs, () => {
      this.#kinds.withTransactions();
      this.wake();
    });
  }

  /** Resolves when all that is due, and that there are slots for, has been claimed. Rejects when a claim fails. */
  async claimNow(): Promise<void> {
    await this.#options.lookout.look();
    if (this.#isStopping) return;
    const claimed = new Promise<void>((resolve, reject) => this.#waiting.push({ resolve, reject }));
    this.wake();
    await claimed;
  }

  /** The claim to send now; undefined: none. Whoever takes it sends it. */
  takeClaim(): ClaimSending | undefined {
    if (!this.#mayHaveMore || this.#isStopping || this.#isReleasing || this.#endPause !== undefined) return undefined;
    if (this.#unanswered > this.#underWay) {
      if (this.#underWay === 0) void this.#releaseUnknown();
      return undefined;
    }
    const sent = this.#nextClaim();
    if (sent === undefined) {
      this.#isSaturated = true;
      if (this.#underWay === 0) this.#endWaiting();
      return undefined;
    }
    const { leaseMs } = this.#options;
    const open = sent.groups.filter(({ take }) => take > 0).map(({ take, lines }) => ({ take, lines }));
    this.#underWay += 1;
    this.#unanswered += 1;
    // Where there is plenty, two claims at a time share the slots.
    this.#mayHaveMore = this.#isPlenty;
    return {
      input: { groups: JSON.stringify(open), kinds: toArrayLiteral(sent.claimable.kinds), limit: sent.limit, leaseMs },
      onAnswer: (answer) => this.#answered(sent, answer),
      onError: (error) => this.#failed(sent, error),
      onLate: () => this.#claimedLate(),
    };
  }

  /** Whether a claim could bring anything. */
  get hasRoom(): boolean {
    return this.#room > 0;
  }

  /** Resolves when no claim is under way any more. Safe to call twice. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#endPause?.();
    this.#cancelTransactionPause();
    await this.#poll.stop();
    while (this.#underWay > 0) await new Promise<void>((resolve) => this.#waiting.push({ resolve, reject: () => resolve() }));
    if (this.#unanswered > 0) await this.#releaseUnknown();
    this.#endWaiting();
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  get #room(): number {
    const { slots, prefetch } = this.#options;
    return slots.free + prefetch.size;
  }

  #nextClaim(): Sent | undefined {
    const { clock, slots, prefetch, lines, backlog, concurrency } = this.#options;
    const ahead = prefetch.size;
    const share = Math.min(this.#isPlenty ? Math.ceil((concurrency + ahead) / 2) : concurrency + ahead, largestClaim);
    const room = slots.free + ahead;
    const claimable = this.#kinds.next(Math.min(slots.free, share), Math.min(room, share), this.#isPlenty);
    const { limit } = claimable;
    // What begins at once is worth a small claim; what waits here is not.
    if (limit <= 0 || (slots.free <= 0 && room < ahead / 2)) return undefined;
    if (backlog() > Math.max(concurrency + ahead, 100)) return undefined;
    const sentAtMs = clock.now();
    const groups = lines.groups((lane) => slots.freeIn(lane, limit), limit, sentAtMs);
    if (groups.every(({ take }) => take <= 0)) return undefined;
    const byLane = new Map(groups.flatMap(({ ceilingOf, take }) => (ceilingOf === undefined || take <= 0 ? [] : [[ceilingOf, take]])));
    const given = [slots.reserve(limit, byLane), this.#kinds.reserve(claimable, limit)];
    const giveBackSlots = () => {
      for (const giveBack of given) giveBack();
    };
    this.#sent += 1;
    return { number: this.#sent, sentAtMs, limit, groups, claimable, wakes: this.#wakes, giveBackSlots };
  }

  #answered(sent: Sent, answer: ClaimAnswer): void {
    const { slots, lines, onClaimed, onAnswered, databaseClock } = this.#options;
    this.#underWay -= 1;
    this.#unanswered -= 1;
    this.#failures = 0;
    sent.giveBackSlots();
    databaseClock.observe(Number(answer.now), sent.sentAtMs);
    const full = lines.answered(sent.groups, answer, sent.limit, sent.claimable.isPart);
    this.#isPlenty = answer.claimed.length === sent.limit;
    if (this.#isPlenty) this.#lastFull = Math.max(this.#lastFull, sent.number);
    this.#isSaturated = this.#isPlenty || full.length > 0 || sent.claimable.isPart;
    onAnswered(answer.claimed.length);
    for (const row of answer.claimed.sort(compareForStart)) onClaimed(row, sent.sentAtMs);
    // A slot of a full lane that became free while the claim was under way has rung for nobody.
    const hasRoom = full.some(({ ceilingOf }) => ceilingOf !== undefined && slots.freeIn(ceilingOf, this.#room) > 0);
    // Another claim was lost: what it took is to be given back first.
    const isPartLeft = this.#kinds.isMoreThan(sent.claimable);
    const isOneLost = this.#unanswered > this.#underWay;
    this.#mayHaveMore = this.#lastFull >= sent.number || hasRoom || isPartLeft || isOneLost || this.#wakes !== sent.wakes;
    this.#endWaitingIfDone();
  }

  #failed(sent: Sent, error: unknown): void {
    const { clock, lines, onWanted, onError } = this.#options;
    this.#underWay -= 1;
    this.#failures += 1;
    this.#mayHaveMore = true;
    sent.giveBackSlots();
    lines.failed(sent.groups);
    onError(error);
    for (const { reject } of this.#waiting.splice(0)) reject(error);
    if (this.#isStopping || this.#endPause !== undefined) return;
    const cancel = clock.after(retryDelayMs(this.#failures), () => this.#endPause?.());
    this.#endPause = () => {
      cancel();
      this.#endPause = undefined;
      onWanted();
    };
  }

  /** A claim that was given up has been carried out all the same, perhaps after what it took was looked for. */
  #claimedLate(): void {
    this.#unanswered += 1;
    if (this.#isStopping) void this.#releaseUnknown();
    else this.wake();
  }

  /** No claim is awaited now, so what is ours in the table and not known here came from one whose answer was lost. */
  async #releaseUnknown(): Promise<void> {
    const { database, statements, worker, known, clock, leaseMs, databaseClock, onWanted, onClaimsLost, onError } = this.#options;
    const found = this.#unanswered;
    this.#isReleasing = true;
    const nowMs = databaseClock.databaseNowMs;
    const until = nowMs === undefined ? null : String(Math.round((nowMs + leaseMs / 2) * 1_000));
    try {
      await database.run(statements.releaseUnknownJobs, { worker, known: `{${known().join(",")}}`, until });
      this.#unanswered -= found;
      onClaimsLost();
    } catch (error) {
      onError(error);
      this.#failures += 1;
      if (!this.#isStopping) await new Promise<void>((resolve) => clock.after(retryDelayMs(this.#failures), resolve));
    }
    this.#isReleasing = false;
    onWanted();
  }

  #endWaitingIfDone(): void {
    if (this.#underWay === 0 && (!this.#mayHaveMore || this.#isStopping)) this.#endWaiting();
  }

  #endWaiting(): void {
    for (const { resolve } of this.#waiting.splice(0)) resolve();
  }
}
