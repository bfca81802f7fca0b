/** A place in the claim index: jobs are read in the order of when they are due, and of their ids. */
export interface Place {
  /** Microseconds since 1970, by the database's clock. */
  readonly at: number;
  readonly id: string;
}

/** Transactions that are open for so long are never missed: a claim that follows one that found all looks so far below. */
const alwaysMs = 250;
/** How far below the cursor a look goes, each as often as a quarter of that. */
const ladderMs = [alwaysMs, 1_000, 4_000, 16_000, 64_000, 256_000] as const;
/** Below the ladder: for the look behind. */
export const ladderEndMs = 256_000;
/** The database's clock was set back when it is so far behind what it said before. */
const clockStepMs = 100;

/**
 * How far a line has been claimed, so that a claim does not read again what has been claimed before (dead index entries while a
 * snapshot is held: 28.9 falls to 3.1 k jobs/s without it) or what this worker cannot do. It is a hint that no job depends on
 * for more than latency: transactions commit later than they enqueue. So each claim looks a little below, now and then far
 * below, by a ladder; a notification lowers it; and everything below the ladder is looked at seldom.
 *
 * Measured with a held snapshot, commit to claim: 2.5 ms (p99 5.8) for transactions under 20 ms, at most 1 s for those of 1–3 s.
 */
export class Cursor {
  /** Undefined: from the beginning. */
  #place: Place | undefined;
  /** The last answer was as large as was asked for: the place is exact, and looks below it are counted. */
  #isExact = false;
  /** When each rung was looked at last, by the process's clock. */
  #lookedAtMs: number[] = ladderMs.map(() => Number.NEGATIVE_INFINITY);
  /** Counts claims and lowerings, in the order in which they happen. */
  #version = 0;
  /** Claims under way, by their versions; -1: on no rung. */
  readonly #underWay = new Map<number, { readonly rung: number; readonly nowMs: number }>();
  /** What it was lowered to: an answer to a claim that was sent before does not raise it above that. */
  #lowerings: { readonly version: number; readonly at: number }[] = [];
  /** The version of the latest claim that was answered. */
  #answered = 0;

  get place(): Place | undefined {
    return this.#place;
  }

  /** After `begin`: to be given back with the answer of that claim. */
  get version(): number {
    return this.#version;
  }

  /** Where the next claim begins. */
  begin(nowMs: number): Place | undefined {
    this.#version += 1;
    const rung = this.#rungAt(nowMs);
    this.#underWay.set(this.#version, { rung: this.#place === undefined ? -1 : rung, nowMs });
    if (this.#place === undefined) return undefined;
    if (rung < 0) return this.#isExact ? this.#place : below(this.#place, alwaysMs);
    return below(this.#place, ladderMs[rung] ?? alwaysMs);
  }

  /** A claim has read the line to its end: everything that was due at `at` and visible. */
  readToEnd(at: number, version: number): void {
    const isLatest = version >= this.#answered;
    const isSetBack = isLatest && this.#place !== undefined && at < this.#place.at - clockStepMs * 1_000;
    this.#noteRung(version);
    if (isSetBack) this.reset();
    else if (isLatest) this.#moveTo({ at, id: "0" }, version, false);
    this.#end(version);
  }

  /** A claim has stopped in the middle of the line: what it did not take may begin behind `last`, also below an earlier place. */
  readUntil(last: Place, version: number): void {
    this.#noteRung(version);
    // A claim that was sent later has read on from another place: this one can only lower it.
    if (version >= this.#answered) this.#moveTo(last, version, true);
    else if (this.#place !== undefined && isBefore(last, this.#place)) this.#place = last;
    this.#end(version);
  }

  /** A claim has not come to this line: its look below is still to be made. */
  notRead(version: number): void {
    this.#end(version);
  }

  /** A job is due since `at`. */
  lower(at: number): void {
    this.#version += 1;
    // For the claims under way; of several only what is below all that came later counts.
    if (this.#underWay.size > 0)
      this.#lowerings = [...this.#lowerings.filter((earlier) => earlier.at < at), { version: this.#version, at }];
    if (this.#place !== undefined && at < this.#place.at) this.#place = { at, id: "0" };
    this.#isExact = false;
  }

  /** Something was put back, perhaps by a transaction that was open for long: the next claim goes down the whole ladder. */
  lookFarBelow(): void {
    this.#lookedAtMs = ladderMs.map(() => Number.NEGATIVE_INFINITY);
    for (const [version, { nowMs }] of this.#underWay) this.#underWay.set(version, { rung: -1, nowMs });
  }

  /** Nobody knows what the last claims saw. */
  reset(): void {
    this.lower(Number.NEGATIVE_INFINITY);
    this.#place = undefined;
  }

  /** The lowest rung that is to be looked at; -1: none. Called for each line of each claim. */
  #rungAt(nowMs: number): number {
    for (let rung = ladderMs.length - 1; rung >= 0; rung--) {
      if (nowMs - this.#lookedAt(rung) >= (ladderMs[rung] ?? 0) / 4) return rung;
    }
    return -1;
  }

  /** When this rung was looked at last, or is by a claim under way. */
  #lookedAt(rung: number): number {
    let last = this.#lookedAtMs[rung] ?? 0;
    for (const claim of this.#underWay.values()) if (claim.rung >= rung) last = Math.max(last, claim.nowMs);
    return last;
  }

  #noteRung(version: number): void {
    const claim = this.#underWay.get(version);
    for (let n = 0; claim !== undefined && n <= claim.rung; n++) this.#lookedAtMs[n] = claim.nowMs;
  }

  /** A lowering is kept for the claims that were sent before it. */
  #end(version: number): void {
    if (!this.#underWay.delete(version) || this.#lowerings.length === 0) return;
    const oldest = Math.min(...this.#underWay.keys());
    this.#lowerings = this.#lowerings.filter((lowering) => lowering.version > oldest);
  }

  #moveTo(place: Place, version: number, isExact: boolean): void {
    this.#answered = version;
    let floor = Number.POSITIVE_INFINITY;
    for (const lowering of this.#lowerings) if (lowering.version > version) floor = Math.min(floor, lowering.at);
    this.#isExact = isExact && place.at <= floor;
    if (floor === Number.NEGATIVE_INFINITY) this.#place = undefined;
    else this.#place = place.at <= floor ? place : { at: floor, id: "0" };
  }
}

function isBefore(a: Place, b: Place): boolean {
  return a.at < b.at || (a.at === b.at && (a.id.length < b.id.length || (a.id.length === b.id.length && a.id < b.id)));
}

function below({ at }: Place, ms: number): Place {
  return { at: at - ms * 1_000, id: "0" };
}
