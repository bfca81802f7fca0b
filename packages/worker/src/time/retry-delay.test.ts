import { expect, test } from "vitest";
import { retryDelayMs } from "./retry-delay.js";

test("the pause doubles from 100 ms to 5 s, and is jittered by half", () => {
  expect([1, 2, 3, 4, 5, 6, 7, 8, 100].map((n) => retryDelayMs(n, () => 1))).toEqual([
    100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000,
  ]);
  expect([1, 7].map((n) => retryDelayMs(n, () => 0))).toEqual([50, 2_500]);
});
