import { describe, expect, test } from "vitest";
import { Slots } from "./slots.js";

/** `freeIn`: of the lane, when all that is free may be of it. */
function slotsOf(concurrency: number, ceilings: ReadonlyMap<string, number>, onRelease: (free: number) => void) {
  const slots: Slots = new Slots(concurrency, ceilings, () => onRelease(slots.free));
  return { slots, freeIn: (lane: string) => slots.freeIn(lane, slots.free) };
}

describe("Slots", () => {
  test("counts what is free in all, and in a lane that has a ceiling", () => {
    const { slots, freeIn } = slotsOf(3, new Map([["mail", 2]]), () => {});
    expect([slots.free, freeIn("mail"), freeIn("other")]).toEqual([3, 2, 3]);
    slots.take("mail");
    expect([slots.free, freeIn("mail"), freeIn("other")]).toEqual([2, 1, 2]);
    slots.take("mail");
    expect([slots.free, freeIn("mail"), freeIn("other")]).toEqual([1, 0, 1]);
    slots.release("mail");
    expect([slots.free, freeIn("mail")]).toEqual([2, 1]);
  });

  test("never gives a lane more than there is in all", () => {
    const { slots, freeIn } = slotsOf(2, new Map([["mail", 5]]), () => {});
    slots.take("other");
    expect(freeIn("mail")).toBe(1);
    slots.take("other");
    expect(freeIn("mail")).toBe(0);
  });

  test("tells when one becomes free, after it is free", () => {
    const free: number[] = [];
    const slots: Slots = new Slots(1, new Map(), () => free.push(slots.free));
    slots.take("a");
    slots.release("a");
    expect(free).toEqual([1]);
  });

  test("keeps slots for a claim that is on its way, in all and in a lane that has a ceiling, and gives them back once", () => {
    const told: number[] = [];
    const { slots, freeIn } = slotsOf(10, new Map([["mail", 4]]), (free) => told.push(free));
    slots.take("mail");
    const giveBack = slots.reserve(6, new Map([["mail", 2]]));
    expect([slots.free, freeIn("mail"), freeIn("other")]).toEqual([3, 1, 3]);
    const giveOtherBack = slots.reserve(3, new Map([["mail", 1]]));
    expect([slots.free, freeIn("mail"), freeIn("other")]).toEqual([0, 0, 0]);
    giveBack();
    expect([slots.free, freeIn("mail"), freeIn("other")]).toEqual([6, 2, 6]);
    giveOtherBack();
    expect([slots.free, freeIn("mail")]).toEqual([9, 3]);
    // It is whoever claimed that knows what to do with the room.
    expect(told).toEqual([]);
  });

  test("keeps what a claim may not use for others: a lane without a ceiling needs no slots of its own", () => {
    const { slots, freeIn } = slotsOf(10, new Map([["mail", 4]]), () => {});
    const giveBack = slots.reserve(5, new Map());
    expect([slots.free, freeIn("mail")]).toEqual([5, 4]);
    giveBack();
    slots.reserve(8, new Map([["mail", 1]]));
    expect([slots.free, freeIn("mail")]).toEqual([2, 2]);
  });
});
