import type { ClaimGroup } from "@queue/core/internal";

/** A lane at one priority. */
export interface Line {
  readonly lane: string;
  readonly priority: number;
}

/**
 * Where a worker looks for jobs. The lanes of its kinds are known from the start; others, which exist because somebody has
 * enqueued into them, come from notifications and from looking ahead.
 */
export class Lines {
  /** The lanes that this worker serves; undefined: every lane. */
  readonly #served: ReadonlySet<string> | undefined;
  readonly #ceilings: ReadonlyMap<string, number>;
  readonly #permanent: readonly Line[];
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

  /** Takes note of a line where a job has come. */
  add(line: Line): void {
    if (!this.#isServed(line)) return;
    this.#known.set(keyOf(line), line);
    this.#told.set(keyOf(line), line);
  }

  isServed(lane: string): boolean {
    return this.#served?.has(lane) ?? true;
  }

  /** What a look has found to have jobs, besides the permanent lines. */
  replace(lines: readonly Line[]): void {
    const served = lines.filter((line) => this.#isServed(line));
    this.#known = new Map([...this.#permanent, ...served, ...this.#told.values()].map((line) => [keyOf(line), line]));
    this.#told = new Map();
  }

  /**
   * The lines as the claim takes them: lanes that have a ceiling each in a group of its own, all others together; by
   * priority, and among equals another lane first each time, so that none starves the others. A group that may take nothing
   * is full.
   */
  groups(freeIn: (lane: string) => number, free: number): ClaimGroup[] {
    const lines = [...this.#known.values()].sort((a, b) => a.priority - b.priority);
    const turn = this.#turn++;
    const byGroup = new Map<string, Line[]>();
    for (const line of rotateEquals(lines, turn)) {
      const group = this.#ceilings.has(line.lane) ? line.lane : "";
      byGroup.set(group, [...(byGroup.get(group) ?? []), line]);
    }
    return [...byGroup].map(([group, members]) => ({ take: group === "" ? free : freeIn(group), lines: members.map(fromTheBeginning) }));
  }

  #isServed({ lane }: Line): boolean {
    return this.isServed(lane);
  }
}

function fromTheBeginning({ lane, priority }: Line) {
  return { lane, priority, since: null, since_id: "0" };
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
