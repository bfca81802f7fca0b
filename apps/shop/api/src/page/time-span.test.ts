import { expect, test } from "vitest";
import { timeSpan } from "./time-span.js";

test.each([
  [-40, "0.0 s"],
  [420, "0.4 s"],
  [12_300, "12 s"],
  [200_000, "3 min"],
  [7_200_000, "2 h"],
  [7 * 86_400_000, "7 d"],
])("%i ms are called %s", (ms, text) => {
  expect(timeSpan(ms)).toBe(text);
});
