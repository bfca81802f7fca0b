import { expect, it } from "vitest";
import { aRecording } from "../test/support/a-recording.js";
import { windowsOf } from "./windows.js";

it("a run is cut into whole minutes, each with what happened in it", () => {
  const { samples } = aRecording(() => ({}), { minutes: 3 });
  const windows = windowsOf(samples, undefined);
  // The first sample is where the counting begins, so that 170 s are left.
  expect(windows.map(({ fromMs, toMs }) => [fromMs, toMs])).toEqual([
    [10_000, 70_000],
    [70_000, 130_000],
  ]);
  for (const window of windows) expect(window).toMatchObject({ enqueued: 60_000, ended: 60_000, isHeld: false });
});

it("a minute is marked when a snapshot was held in a part of it", () => {
  const { samples } = aRecording(() => ({}), { minutes: 3 });
  expect(windowsOf(samples, { fromMs: 60_000, toMs: 65_000 }).map(({ isHeld }) => isHeld)).toEqual([true, false]);
  expect(windowsOf(samples, { fromMs: 125_000, toMs: 140_000 }).map(({ isHeld }) => isHeld)).toEqual([false, true]);
});

it("a run of one sample has no minute", () => {
  expect(windowsOf(aRecording(() => ({}), { minutes: 1 / 6 }).samples, undefined)).toEqual([]);
  expect(windowsOf([], undefined)).toEqual([]);
});
