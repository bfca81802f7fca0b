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

  get used(): number {
    return this.#used;
  }

  freeIn(lane: string): number {
    const ceiling = this.#ceilings.get(lane);
    return ceiling === undefined ? this.free : Math.min(this.free, ceiling - (this.#usedByLane.get(lane) ?? 0));
  }

  take(lane: string): void {
    this.#used += 1;
    if (this.#ceilings.has(lane)) this.#usedByLane.set(lane, (this.#usedByLane.get(lane) ?? 0) + 1);
  }

  release(lane: string): void {
    this.#used -= 1;
    if (this.#ceilings.has(lane)) this.#usedByLane.set(lane, (this.#usedByLane.get(lane) ?? 0) - 1);
    this.#onRelease();
  }
}
