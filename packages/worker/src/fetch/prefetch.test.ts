import { describe, expect, test } from "vitest";
import { fakeClock } from "../../test/support/fake-clock.js";
import { Prefetch } from "./prefetch.js";

function setUp({ concurrency = 10, isOn = true } = {}) {
  const clock = fakeClock();
  const prefetch = new Prefetch({ isOn, concurrency, clock });
  return {
    clock,
    prefetch,
    /** So many handlers end, and so much time goes by. */
    ended(count: number, ms: number) {
      for (let n = 0; n < count; n++) prefetch.noteEnded();
      clock.advance(ms);
      return prefetch.size;
    },
  };
}

describe("Prefetch", () => {
  test("is nothing until handlers have ended", () => {
    const { prefetch, ended } = setUp();
    expect(prefetch.size).toBe(0);
    expect(ended(0, 50)).toBe(0);
  });

  test("is twenty milliseconds of work, at the rate at which handlers end, and no more than a claim may bring", () => {
    const { ended } = setUp();
    const sizes = Array.from({ length: 20 }, () => ended(100, 10));
    expect(sizes[0]).toBe(100);
    expect(sizes.at(-1)).toBeGreaterThanOrEqual(199);
    expect(sizes.at(-1)).toBeLessThanOrEqual(200);
    for (let n = 0; n < 20; n++) ended(10_000, 10);
    expect(ended(10_000, 10)).toBe(500);
  });

  test("is nothing where handlers take longer than that", () => {
    const { ended } = setUp({ concurrency: 10 });
    for (let n = 0; n < 20; n++) ended(4, 10);
    expect(ended(4, 10)).toBe(0);
    for (let n = 0; n < 20; n++) ended(6, 10);
    expect(ended(6, 10)).toBeGreaterThanOrEqual(10);
  });

  test("measures over five milliseconds at least, and forgets a rate that is old", () => {
    const { ended } = setUp();
    expect(ended(1_000, 4)).toBe(0);
    expect(ended(0, 1)).toBe(500);
    expect(ended(1, 1_000)).toBe(0);
  });

  test("is nothing for a while after jobs have waited too long", () => {
    const { clock, prefetch, ended } = setUp();
    expect(ended(1_000, 10)).toBe(500);
    prefetch.rest();
    expect(ended(1_000, 10)).toBe(0);
    clock.advance(10_000);
    expect(ended(100_000, 10)).toBeGreaterThan(0);
  });

  test("is nothing when it is switched off", () => {
    const { ended } = setUp({ isOn: false });
    expect(ended(1_000, 10)).toBe(0);
  });
});
