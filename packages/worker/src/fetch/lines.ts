import type { ClaimAnswer, ClaimedRow, ClaimLine } from "@queue/core/internal";
import { compareInLine } from "./claim-order.js";
import { Cursor, ladderEndMs } from "./cursor.js";

/** A lane at one priority. */
export interface Line {
  readonly lane: string;
  readonly priority: number;
}

/** Lines that are claimed from together, and how many jobs they may give. */
export interface LineGroup {
  /** The lane that has a ceiling of its own; undefined: all lanes that have none. */
  readonly ceilingOf: string | undefined;
  readonly take: number;
  readonly lines: readonly ClaimLine[];
  /** The cursors of the lines, and their versions; empty when nothing is taken. */
  readonly cursors: readonly Cursor[];
  readonly versions: readonly number[];
}

/** Cursors of lines that a look does not find any more are kept, so that a line that comes and goes is not read anew each time. */
const mostCursors = 10_000;

/**
 * Where a worker looks for jobs. The lanes of its kinds are known from the start; others, which exist because somebody has
 * enqueued into them, come from notifications and from looking ahead.
 */
export class Lines {
  /** The lanes that this worker serves; undefined: every lane. */
  readonly #served: ReadonlySet<string> | undefined;
  readonly #ceilings: ReadonlyMap<string, number>;
  readonly #permanent: readonly Line[];
  readonly #cursors = new Map<string, Cursor>();
  #known = new Map<string, Line>();
  /** What was told since the last look: a look that was under way at that moment has not seen it. */
  #told = new Map<string, Line>();
  #turn = 0;

  constructor(permanent: readonly Line[], served: ReadonlySet<string> | undefined, ceilings: ReadonlyMap<string, number>) {
    this.#served = served;
    this.#ceilings = ceilings;
    this.#permanent = permanent.filter((line) => this.#isServed(line));
    this.replace([]);
  }

  /** Takes note of a line where a job has come, due since `since` (microseconds since 1970) if that is known. */
  add(line: Line, since?: number): void {
    if (!this.#isServed(line)) return;
    this.#known.set(keyOf(line), line);
    this.#told.set(keyOf(line), line);
    if (since !== undefined) this.#cursor(line).lower(since);
  }

  isServed(lane: string): boolean {
    return this.#served?.has(lane) ?? true;
  }

  /** Where claims look. */
  known(): Line[] {
    return [...this.#known.values()];
  }

  /** What a look has found to have jobs, besides the permanent lines. */
  replace(lines: readonly Line[]): void {
    const served = lines.filter((line) => this.#isServed(line));
    this.#known = new Map([...this.#permanent, ...served, ...this.#told.values()].map((line) => [keyOf(line), line]));
    this.#told = new Map();
    for (const key of this.#cursors.keys()) {
      if (this.#cursors.size <= mostCursors) break;
      if (!this.#known.has(key)) this.#cursors.delete(key);
    }
  }

  /**
   * The lines as the claim takes them: lanes that have a ceiling each in a group of its own, all others together; by
   * priority, and among equals another lane first each time, so that none starves the others. A group that may take nothing
   * is full.
   */
  groups(freeIn: (lane: string) => number, free: number, nowMs: number): LineGroup[] {
    const lines = [...this.#known.values()].sort((a, b) => a.priority - b.priority);
    const turn = this.#turn++;
    const byGroup = new Map<string | undefined, Line[]>();
    for (const line of rotateEquals(lines, turn)) {
      const group = this.#ceilings.has(line.lane) ? line.lane : undefined;
      const members = byGroup.get(group);
      if (members === undefined) byGroup.set(group, [line]);
      else members.push(line);
    }
    return [...byGroup].map(([ceilingOf, members]) => {
      const take = ceilingOf === undefined ? free : freeIn(ceilingOf);
      // A group that takes nothing is not looked at: its cursors stay as they are.
      const cursors = take > 0 ? members.map((line) => this.#cursor(line)) : [];
      return {
        ceilingOf,
        take,
        lines: members.map((line, n) => ({ ...line, ...beginOf(cursors[n], nowMs) })),
        cursors,
        versions: cursors.map(({ version }) => version),
      };
    });
  }

  /**
   * Takes note of how far a claim has read; a claim of a part of the kinds (`isPart`) says nothing about that. Returns the groups
   * that gave all that they may: there may be more.
   */
  answered(groups: readonly LineGroup[], { claimed, now, paused }: ClaimAnswer, limit: number, isPart = false): LineGroup[] {
    const taken = new Map<string, { count: number; last: ClaimedRow }>();
    for (const row of claimed) {
      const sofar = taken.get(keyOf(row));
      if (sofar === undefined) taken.set(keyOf(row), { count: 1, last: row });
      else {
        sofar.count += 1;
        if (compareInLine(row, sofar.last) > 0) sofar.last = row;
      }
    }
    const countOf = (line: Line) => taken.get(keyOf(line))?.count ?? 0;
    const isFull = ({ lines, take }: LineGroup) => claimed.length >= take && lines.reduce((sum, line) => sum + countOf(line), 0) >= take;
    for (const group of groups) {
      const isCut = claimed.length >= limit || isFull(group);
      // A group that may take nothing was not asked for, and has no cursors.
      for (const [n, cursor] of group.cursors.entries()) {
        const line = group.lines[n];
        const version = group.versions[n];
        if (line === undefined || version === undefined) continue;
        const last = isCut ? taken.get(keyOf(line))?.last : undefined;
        if (isPart || paused.includes(line.lane)) cursor.notRead(version);
        else if (!isCut) cursor.readToEnd(Number(now), version);
        else if (last !== undefined) cursor.readUntil({ at: Number(last.run_at), id: last.id }, version);
        else cursor.notRead(version);
      }
    }
    return groups.filter(isFull);
  }

  /** The lines that have been claimed from, and the moment below which no claim looks. */
  behind(): { readonly lane: string; readonly priority: number; readonly below: number }[] {
    return [...this.#known.values()].flatMap((line) => {
      const place = this.#cursors.get(keyOf(line))?.place;
      return place === undefined ? [] : [{ ...line, below: place.at - ladderEndMs * 1_000 }];
    });
  }

  /** Something was put back somewhere. */
  lookFarBelow(): void {
    for (const cursor of this.#cursors.values()) cursor.lookFarBelow();
  }

  /** Nobody knows what the claim of these groups saw, and what it had locked was passed over by claims that went on. */
  failed(groups: readonly LineGroup[]): void {
    for (const group of groups) {
      for (const [n, cursor] of group.cursors.entries()) cursor.notRead(group.versions[n] ?? 0);
    }
    for (const cursor of this.#cursors.values()) cursor.reset();
  }

  #cursor(line: Line): Cursor {
    const key = keyOf(line);
    const known = this.#cursors.get(key);
    if (known !== undefined) return known;
    const cursor = new Cursor();
    this.#cursors.set(key, cursor);
    return cursor;
  }

  #isServed({ lane }: Line): boolean {
    return this.isServed(lane);
  }
}

function beginOf(cursor: Cursor | undefined, nowMs: number) {
  const place = cursor?.begin(nowMs);
  return { since: place === undefined ? null : String(place.at), since_id: place?.id ?? "0" };
}

function rotateEquals(sorted: readonly Line[], turn: number): Line[] {
  const priorities = [...new Set(sorted.map((line) => line.priority))];
  return priorities.flatMap((priority) => {
    const equals = sorted.filter((line) => line.priority === priority);
    const first = turn % equals.length;
    return [...equals.slice(first), ...equals.slice(0, first)];
  });
}

function keyOf({ lane, priority }: Line): string {
  return `${priority} ${lane}`;
}
