import { expect, it } from "vitest";
import { type Point, trendOf } from "./trend.js";

const allowance = { atLeast: 10, part: 0.1 };
const every = (count: number, value: (index: number) => number): Point[] =>
  Array.from({ length: count }, (_, index) => ({ atMs: index * 10_000, value: value(index) }));

it("a rise is told over the last two thirds, so that a warm-up is none", () => {
  const trend = trendOf(
    every(91, (index) => Math.min(index, 30) * 100),
    allowance,
  );
  expect(trend).toEqual({ rise: 0, allowed: 300, median: 3_000 });
});

it("a rise of one a sample is as large as there are samples", () => {
  expect(
    trendOf(
      every(91, (index) => index),
      allowance,
    )?.rise,
  ).toBeCloseTo(60);
});

it("single peaks are no rise", () => {
  expect(
    trendOf(
      every(91, (index) => (index > 85 && index % 2 === 0 ? 10_000 : 100)),
      allowance,
    )?.rise,
  ).toBe(0);
});

it("nothing is told of a few samples", () => {
  expect(
    trendOf(
      every(6, () => 1),
      allowance,
    ),
  ).toBeUndefined();
  expect(trendOf([], allowance)).toBeUndefined();
});
