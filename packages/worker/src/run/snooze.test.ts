import { describe, expect, test } from "vitest";
import { QueueError } from "@queue/core";
import { snooze, snoozeMs } from "./snooze.js";

describe("snooze", () => {
  test("takes any duration, and cannot be changed afterwards", () => {
    expect([0, 250, "250ms", "1.5h"].map((delay) => snoozeMs(snooze(delay as "250ms")))).toEqual([0, 250, 250, 5_400_000]);
    expect(Object.isFrozen(snooze("5m"))).toBe(true);
  });

  test.each(["soon", -1, Number.NaN, Number.POSITIVE_INFINITY, undefined, null, 36_526 * 86_400_000])("refuses %s, at once", (delay) => {
    expect(() => snooze(delay as number)).toThrow(QueueError);
  });

  test("is not seen in what is none", () => {
    for (const result of [undefined, null, 0, "5m", {}, [], () => {}, new Error("~snooze")]) expect(snoozeMs(result)).toBeUndefined();
  });
});
