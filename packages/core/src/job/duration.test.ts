import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { thrownBy } from "../../test/support/thrown-by.js";
import { type Duration, maxDurationMs, parseDuration } from "./duration.js";

const unitsMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

describe("parseDuration", () => {
  test.each([
    [0, 0],
    [250, 250],
    ["250ms", 250],
    ["0s", 0],
    ["30s", 30_000],
    ["5m", 300_000],
    ["1h", 3_600_000],
    ["7d", 604_800_000],
    ["1.5h", 5_400_000],
    ["0.25s", 250],
    ["1.1s", 1_100],
    ["0.001s", 1],
    ["0.0001d", 8_640],
    ["007s", 7_000],
    ["36525d", maxDurationMs],
    [maxDurationMs, maxDurationMs],
  ] as const)("reads %j as %d ms", (duration, ms) => {
    expect(parseDuration(duration, "delay")).toBe(ms);
  });

  test("reads any whole number with any unit exactly", () => {
    fc.assert(
      fc.property(fc.constantFrom(..."ms s m h d".split(" ")), fc.nat({ max: 36_525 }), (unit, count) => {
        const expected = count * unitsMs[unit as keyof typeof unitsMs];
        expect(parseDuration(`${count}${unit}` as Duration, "delay")).toBe(expected);
      }),
    );
  });

  test("reads a fraction that is whole milliseconds exactly, and never rounds to another number", () => {
    fc.assert(
      fc.property(fc.nat({ max: 10_000_000 }), (ms) => {
        expect(parseDuration(`${(ms / 1_000).toFixed(3)}s` as Duration, "delay")).toBe(ms);
      }),
    );
  });

  const wrongShapes: readonly unknown[] = [
    "",
    "s",
    "1200",
    "1 s",
    " 1s",
    "1s ",
    "1s\n",
    "1S",
    "1sec",
    "-1s",
    "+1s",
    "1e3s",
    ".5s",
    "5.s",
    "1.2.3s",
    "1h30m",
    "PT1H",
    "0x10s",
    "NaNs",
    "Infinitys",
    "\u0661s",
    "0.1ms",
    "0.0005s",
    `${"9".repeat(400)}d`,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1.5,
    2 ** 53,
    null,
    undefined,
    true,
    5n,
    new Date(0),
    ["1s"],
    { valueOf: () => 5 },
    Symbol("s"),
  ];
  test.each(wrongShapes.map((duration) => [inspect(duration).slice(0, 20), duration] as const))(
    "refuses %s, naming the option and the units",
    (_shown, duration) => {
      const error = thrownBy(() => parseDuration(duration as Duration, "keyHolds"));
      expect(error).toMatchObject({ code: "INVALID_OPTION", option: "keyHolds", isRetryable: false });
      expect(error.message).toMatch(/^keyHolds must be whole milliseconds or a number with a unit \("250ms", .*, but is ./);
    },
  );

  test.each([-1, -Date.UTC(2026, 0), maxDurationMs + 1, "36525.1d", "36526d", Number.MAX_SAFE_INTEGER] as const)(
    "refuses %j, which is out of range",
    (duration) => {
      expect(thrownBy(() => parseDuration(duration, "delay"))).toMatchObject({
        code: "INVALID_OPTION",
        option: "delay",
        message: expect.stringMatching(/^delay must be from 0 ms to 3155760000000 ms, but is /),
      });
    },
  );

  test("keeps to narrower bounds, both included", () => {
    const bounds = { minMs: 1, maxMs: 2_147_483_647 };
    expect(parseDuration(1, "timeout", bounds)).toBe(1);
    expect(parseDuration(2_147_483_647, "timeout", bounds)).toBe(2_147_483_647);
    for (const ms of [0, 2 ** 31]) expect(thrownBy(() => parseDuration(ms, "timeout", bounds))).toMatchObject({ option: "timeout" });
  });
});
