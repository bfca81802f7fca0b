import { expect, test } from "vitest";
import { reconnectDelayMs } from "./reconnect-delay.js";

test("the first retry comes within 100 ms, and the ceilings double up to 10 s", () => {
  expect([0, 1, 2, 3, 4, 5, 6, 7, 8, 1_000_000].map((failures) => reconnectDelayMs(failures, 1))).toEqual([
    100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000,
  ]);
});

test("half of the delay is chance", () => {
  expect([0, 0.5, 1].map((random) => reconnectDelayMs(7, random))).toEqual([5_000, 7_500, 10_000]);
});
