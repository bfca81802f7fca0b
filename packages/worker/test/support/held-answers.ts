import { settlePromises } from "./fake-clock.js";

/** Answers of a fake database that the test gives when it likes, the oldest first or the `nth` of those that are awaited. */
export interface HeldAnswers<TRow> {
  readonly awaited: number;
  /** What the fake database answers with. */
  readonly answer: () => Promise<TRow[]>;
  give(rows: TRow[], nth?: number): Promise<void>;
  fail(error: unknown, nth?: number): Promise<void>;
}

export function heldAnswers<TRow>(): HeldAnswers<TRow> {
  const awaited: { readonly resolve: (rows: TRow[]) => void; readonly reject: (error: unknown) => void }[] = [];
  function take(nth: number) {
    const [one] = awaited.splice(nth, 1);
    if (one === undefined) throw new Error(`Nobody waits for answer ${nth}.`);
    return one;
  }
  return {
    get awaited() {
      return awaited.length;
    },
    answer: () => new Promise<TRow[]>((resolve, reject) => awaited.push({ resolve, reject })),
    async give(rows, nth = 0) {
      take(nth).resolve(rows);
      await settlePromises();
    },
    async fail(error, nth = 0) {
      take(nth).reject(error);
      await settlePromises();
    },
  };
}
