/** How many handlers may run at the same time: in all, and in a lane that has a ceiling of its own. */
export class Slots {
  readonly #concurrency: number;
  readonly #ceilings: ReadonlyMap<string, number>;
  readonly #usedByLane = new Map<string, number>();
  readonly #onRelease: () => void;
  #used = 0;

  constructor(concurrency: number, ceilings: ReadonlyMap<string, number>, onRelease: () => void) {
    this.#concurrency = concurrency;
    this.#ceilings = ceilings;
    this.#onRelease = onRelease;
  }

  get free(): number {
    return this.#concurrency - this.#used;
  }

  /** How many of `room` may be of this lane. */
  freeIn(lane: string, room: number): number {
    const ceiling = this.#ceilings.get(lane);
    return ceiling === undefined ? room : Math.min(room, ceiling - (this.#usedByLane.get(lane) ?? 0));
  }

  take(lane: string): void {
    this.#change(lane, 1);
  }

  release(lane: string): void {
    this.#change(lane, -1);
    this.#onRelease();
  }

  /**
   * Keeps slots for a claim that is on its way: `count` in all, and so many of each lane that has a ceiling. The result gives
   * them back, before what the claim brings takes its own.
   */
  reserve(count: number, byLane: ReadonlyMap<string, number>): () => void {
    this.#used += count;
    for (const [lane, some] of byLane) this.#changeLane(lane, some);
    return () => {
      this.#used -= count;
      for (const [lane, some] of byLane) this.#changeLane(lane, -some);
    };
  }

  #change(lane: string, by: 1 | -1): void {
    this.#used += by;
    this.#changeLane(lane, by);
  }

  #changeLane(lane: string, by: number): void {
    if (this.#ceilings.has(lane)) this.#usedByLane.set(lane, (this.#usedByLane.get(lane) ?? 0) + by);
  }
}
