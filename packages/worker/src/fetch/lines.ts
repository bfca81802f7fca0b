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
  #turn = 0;

  constructor(permanent: readonly Line[], served: ReadonlySet<string> | undefined, ceilings: ReadonlyMap<string, number>) {
    this.#served = served;
    this.#ceilings = ceilings;
    this.#permanent = permanent.filter((line) => this.#isServed(line));
    this.replace([]);
  }

  /** Takes note of a line; false when it was known, or is not served. */
  add(line: Line): boolean {
    const key = keyOf(line);
    if (!this.#isServed(line) || this.#known.has(key)) return false;
    this.#known.set(key, line);
    return true;
  }

  isServed(lane: string): boolean {
    return this.#served?.has(lane) ?? true;
  }

  /** What has jobs now, besides the permanent lines. */
  replace(lines: readonly Line[]): void {
    const served = lines.filter((line) => this.#isServed(line));
    this.#known = new Map([...this.#permanent, ...served].map((line) => [keyOf(line), line]));
  }

  /**
   * The lines as the claim takes them: lanes that have a ceiling each in a group of its own, all others together; by
   * priority, and among equals another lane first each time, so that none starves the others.
   */
  groups(freeIn: (lane: string) => number, free: number): ClaimGroup[] {
    const lines = [...this.#known.values()].sort((a, b) => a.priority - b.priority);
    const turn = this.#turn++;
    const byGroup = new Map<string, Line[]>();
    for (const line of rotateEquals(lines, turn)) {
      const group = this.#ceilings.has(line.lane) ? line.lane : "";
      byGroup.set(group, [...(byGroup.get(group) ?? []), line]);
    }
    return [...byGroup]
      .map(([group, members]) => ({ take: group === "" ? free : freeIn(group), lines: members.map(fromTheBeginning) }))
      .filter(({ take }) => take > 0);
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
