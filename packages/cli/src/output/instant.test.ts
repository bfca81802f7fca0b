import { expect, it } from "vitest";
import { showInstant, showSpan } from "./instant.js";

it.each([
  [0, "0ms"],
  [999.4, "999ms"],
  [1_000, "1s"],
  [61_000, "1m 1s"],
  [3_600_000, "1h"],
  [90 * 3_600_000, "3d 18h"],
  [null, null],
])("a span of %s ms is shown as %s", (ms, shown) => {
  expect(showSpan(ms)).toBe(shown);
});

it("shows an instant in UTC, to the second", () => {
  expect(showInstant(new Date("2026-11-29T22:47:10.123Z"))).toBe("2026-11-29 22:47:10Z");
  expect(showInstant(null)).toBeNull();
});
