import { describe, expect, test } from "vitest";
import { ClaimableKinds } from "./claimable-kinds.js";

function kindsWith(free: number, transactional = ["t"], all = ["a", "t"]) {
  let left = free;
  const kinds = new ClaimableKinds(all, { kinds: new Set(transactional), free: () => left });
  return {
    kinds,
    /** Without room for jobs that wait. */
    next: (slots: number, isPlenty: boolean) => kinds.next(slots, slots, isPlenty),
    setFree: (count: number) => void (left = count),
  };
}

describe("ClaimableKinds", () => {
  test("are all of them, for all slots, when none is transactional", () => {
    const { next } = kindsWith(0, []);
    expect(next(50, true)).toEqual({ kinds: ["a", "t"], limit: 50, isPart: false });
  });

  test("are no more jobs than there are transactions for, less what claims under way have asked for", () => {
    const { kinds, next } = kindsWith(8);
    const first = next(5, false);
    expect(first).toEqual({ kinds: ["a", "t"], limit: 5, isPart: false });
    const giveBack = kinds.reserve(first, 5);
    expect(next(5, false)).toMatchObject({ limit: 3 });
    giveBack();
    expect(next(20, false)).toMatchObject({ limit: 8 });
  });

  test("are the others when there is no transaction, and nothing when there are no others", () => {
    expect(kindsWith(0).next(5, false)).toEqual({ kinds: ["a"], limit: 5, isPart: true });
    expect(kindsWith(0, ["t"], ["t"]).next(5, false)).toMatchObject({ limit: 0 });
  });

  test("are the others while the pool gives no transaction, however many there should be", () => {
    const { kinds, next } = kindsWith(8);
    kinds.withoutTransactions();
    const part = next(5, false);
    expect(part).toEqual({ kinds: ["a"], limit: 5, isPart: true });
    expect(kinds.isMoreThan(part)).toBe(false);
    kinds.withTransactions();
    expect(kinds.isMoreThan(part)).toBe(true);
    expect(next(5, false)).toMatchObject({ kinds: ["a", "t"], limit: 5 });
  });

  test("are the others alone every second time where there is plenty and there are more slots than transactions", () => {
    const { kinds, next } = kindsWith(2);
    const asked = Array.from({ length: 4 }, () => {
      const claimable = next(50, true);
      kinds.reserve(claimable, claimable.limit)();
      return [claimable.isPart, claimable.limit];
    });
    expect(asked).toEqual([
      [true, 50],
      [false, 2],
      [true, 50],
      [false, 2],
    ]);
  });

  test("are more than a part when a transaction is free by now", () => {
    const { kinds, next, setFree } = kindsWith(0);
    const part = next(5, false);
    expect(kinds.isMoreThan(part)).toBe(false);
    setFree(1);
    expect(kinds.isMoreThan(part)).toBe(true);
    expect(kinds.isMoreThan(next(5, false))).toBe(false);
  });

  test("claim what waits for a slot of those kinds alone that wait for no transaction", () => {
    expect(kindsWith(0, []).kinds.next(-10, 40, true)).toEqual({ kinds: ["a", "t"], limit: 40, isPart: false });
    const { kinds } = kindsWith(30);
    expect(kinds.next(20, 100, false)).toMatchObject({ kinds: ["a", "t"], limit: 20 });
    expect(kindsWith(0).kinds.next(20, 100, false)).toMatchObject({ kinds: ["a"], limit: 100 });
    // Those that are left out would be claimed as soon as there is a slot.
    expect(kinds.next(0, 100, false)).toMatchObject({ limit: 0 });
  });
});
