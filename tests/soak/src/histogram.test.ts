import { describe, expect, it } from "vitest";
import { mergeCounts, percentile } from "./histogram.js";

describe("histograms", () => {
  it("add up what several samples have counted", () => {
    expect([
      ...mergeCounts([
        [[1, 2]],
        [
          [1, 3],
          [7.5, 1],
        ],
      ]),
    ]).toEqual([
      [1, 5],
      [7.5, 1],
    ]);
  });

  it("name the value that so many lie at or below", () => {
    const hundred = mergeCounts([Array.from({ length: 100 }, (_, index) => [100 - index, 1] as const)]);
    expect(percentile(hundred, 0.5)).toBe(50);
    expect(percentile(hundred, 0.99)).toBe(99);
    expect(percentile(hundred, 1)).toBe(100);
  });

  it("have no percentile when nothing was counted", () => {
    expect(percentile(new Map(), 0.99)).toBeUndefined();
  });
});
