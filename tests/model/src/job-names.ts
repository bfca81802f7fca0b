/** The ids of the database as the model's: 1, 2, 3 … in the order in which their enqueues said that they inserted them. */
export class JobNames {
  readonly #names = new Map<string, number>();
  readonly #ids: string[] = [];

  get count(): number {
    return this.#ids.length;
  }

  /** Names a new job. */
  add(id: string): number {
    this.#ids.push(id);
    this.#names.set(id, this.#ids.length);
    return this.#ids.length;
  }

  /** NaN for a job that nobody was told of. */
  nameOf(id: string): number {
    return this.#names.get(id) ?? Number.NaN;
  }

  idOf(name: number): string {
    return this.#ids[name - 1] ?? "0";
  }
}
