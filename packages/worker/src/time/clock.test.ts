import { describe, expect, test } from "vitest";
import { systemClock } from "./clock.js";

function elapsed(ms: number): Promise<void> {
  return new Promise((resolve) => systemClock.after(ms, resolve));
}

describe("systemClock", () => {
  test("calls once, after the time, and not when it was taken back", async () => {
    const called: string[] = [];
    const takeBack = systemClock.after(1, () => called.push("taken back"));
    systemClock.after(1, () => called.push("called"));
    takeBack();
    await elapsed(10);
    expect(called).toEqual(["called"]);
    takeBack();
  });

  test("B70: waits at least as long as Node can when it is to wait longer, and Node does not warn", async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on("warning", note);
    let isCalled = false;
    const cancels = [2 ** 31, 2 ** 40, Number.MAX_SAFE_INTEGER].map((ms) => systemClock.after(ms, () => (isCalled = true)));
    await elapsed(20);
    for (const cancel of cancels) cancel();
    process.off("warning", note);
    expect(isCalled).toBe(false);
    expect(warnings).toEqual([]);
  });

  test("never goes back", () => {
    const times = Array.from({ length: 1_000 }, () => systemClock.now());
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });
});
