/** Kinds whose handlers run in a transaction, and how many more of them may begin. */
export interface TransactionalKinds {
  readonly kinds: ReadonlySet<string>;
  readonly free: () => number;
}

/** What a claim may ask for. */
export interface Claimable {
  readonly kinds: readonly string[];
  /** At most so many jobs. */
  readonly limit: number;
  /** The transactional kinds are left out. */
  readonly isPart: boolean;
}

/**
 * Which kinds can begin. A transactional job that waited here for its transaction would spend its attempt when the process died
 * meanwhile; so no more jobs are claimed than there are transactions for, or none of those kinds.
 */
export class ClaimableKinds {
  readonly #all: readonly string[];
  readonly #others: readonly string[];
  readonly #free: () => number;
  /** Spoken for by claims under way. */
  #reserved = 0;
  #wasPart = false;
  #isWithoutTransactions = false;

  constructor(all: readonly string[], { kinds, free }: TransactionalKinds) {
    this.#all = all;
    this.#others = all.filter((kind) => !kinds.has(kind));
    this.#free = free;
  }

  /** The transactional kinds are left out until `withTransactions`. */
  withoutTransactions(): void {
    this.#isWithoutTransactions = true;
  }

  withTransactions(): void {
    this.#isWithoutTransactions = false;
  }

  /**
   * For so many slots, and `room` for those that may wait for one as well; `isPlenty`: the last claim brought all that it asked for.
   */
  next(slots: number, room: number, isPlenty: boolean): Claimable {
    if (this.#others.length === this.#all.length) return { kinds: this.#all, limit: room, isPart: false };
    // Those that are left out would be looked for again as soon as a part has been claimed.
    if (slots <= 0) return { kinds: this.#others, limit: 0, isPart: true };
    const free = this.#freeTransactions() - this.#reserved;
    // Where there is plenty, every second claim is for the others alone, which may have more slots than there are transactions.
    const isOthersTurn = isPlenty && this.#others.length > 0 && free < slots && !this.#wasPart;
    if (free > 0 && !isOthersTurn) return { kinds: this.#all, limit: Math.min(free, slots), isPart: false };
    return { kinds: this.#others, limit: this.#others.length > 0 ? room : 0, isPart: true };
  }

  /** Keeps transactions for a claim of `limit` jobs that is sent now; the result gives them back. */
  reserve({ isPart }: Claimable, limit: number): () => void {
    this.#wasPart = isPart;
    const reserved = isPart || this.#others.length === this.#all.length ? 0 : limit;
    this.#reserved += reserved;
    return () => {
      this.#reserved -= reserved;
    };
  }

  /** Whether a claim has left something out that could begin now. */
  isMoreThan({ isPart }: Claimable): boolean {
    return isPart && this.#freeTransactions() > this.#reserved;
  }

  #freeTransactions(): number {
    return this.#isWithoutTransactions ? 0 : this.#free();
  }
}
