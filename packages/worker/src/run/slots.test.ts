import { describe, expect, test } from "vitest";
import { Slots } from "./slots.js";

describe("Slots", () => {
  test("counts what is free in all, and in a lane that has a ceiling", () => {
    const slots = new Slots(3, new Map([["mail", 2]]), () => {});
    expect([slots.free, slots.freeIn("mail"), slots.freeIn("other")]).toEqual([3, 2, 3]);
    slots.take("mail");
    expect([slots.free, slots.used, slots.freeIn("mail"), slots.freeIn("other")]).toEqual([2, 1, 1, 2]);
    slots.take("mail");
    expect([slots.free, slots.freeIn("mail"), slots.freeIn("other")]).toEqual([1, 0, 1]);
    slots.release("mail");
    expect([slots.free, slots.freeIn("mail")]).toEqual([2, 1]);
  });

  test("never gives a lane more than there is in all", () => {
    const slots = new Slots(2, new Map([["mail", 5]]), () => {});
    slots.take("other");
    expect(slots.freeIn("mail")).toBe(1);
    slots.take("other");
    expect(slots.freeIn("mail")).toBe(0);
  });

  test("tells when one becomes free, after it is free", () => {
    const free: number[] = [];
    const slots: Slots = new Slots(1, new Map(), () => free.push(slots.free));
    slots.take("a");
    slots.release("a");
    expect(free).toEqual([1]);
  });
});
