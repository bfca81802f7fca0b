import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { thrownBy } from "../../test/support/thrown-by.js";
import { resolveJobOptions } from "../job/job-definition.js";
import { type EnqueueOptions, resolveEnqueueOptions } from "./enqueue-options.js";

const kind = resolveJobOptions({ lane: "mail", maxAttempts: 3, priority: 2 });

describe("the options of enqueue", () => {
  test("default to those of the kind, due now, without a key", () => {
    const resolved = {
      lane: "mail",
      priority: 2,
      max_attempts: 3,
      delay_ms: 0,
      run_at: null,
      key: null,
      hold_ms: null,
      release_on: null,
    };
    expect(resolveEnqueueOptions({}, kind)).toEqual(resolved);
    const nothing: EnqueueOptions = {
      key: undefined,
      keyHolds: undefined,
      delay: undefined,
      runAt: undefined,
      priority: undefined,
      maxAttempts: undefined,
      lane: undefined,
    };
    expect(resolveEnqueueOptions(nothing, kind)).toEqual(resolved);
  });

  test("override those of the kind", () => {
    expect(resolveEnqueueOptions({ lane: "other", priority: 0, maxAttempts: 2_147_483_647, delay: "10m" }, kind)).toMatchObject({
      lane: "other",
      priority: 0,
      max_attempts: 2_147_483_647,
      delay_ms: 600_000,
    });
  });

  test.each<[holds: EnqueueOptions["keyHolds"], hold_ms: number | null, release_on: string | null]>([
    [undefined, 2_592_000_000, null],
    ["30d", 2_592_000_000, null],
    [1, 1, null],
    ["36525d", 3_155_760_000_000, null],
    ["until-started", null, "started"],
    ["until-ended", null, "ended"],
  ])("a key holds %s", (keyHolds, hold_ms, release_on) => {
    expect(resolveEnqueueOptions({ key: "k", keyHolds }, kind)).toMatchObject({ key: "k", hold_ms, release_on });
  });

  test("runAt is sent as an instant, whatever the zone of the process", () => {
    expect(resolveEnqueueOptions({ runAt: new Date(1_767_225_600_123) }, kind)).toMatchObject({
      run_at: "2026-01-01T00:00:00.123Z",
      delay_ms: 0,
    });
    expect(resolveEnqueueOptions({ runAt: new Date("9999-12-31T23:59:59.999Z") }, kind).run_at).toBe("9999-12-31T23:59:59.999Z");
    expect(resolveEnqueueOptions({ runAt: new Date("0001-01-01T00:00:00Z") }, kind).run_at).toBe("0001-01-01T00:00:00.000Z");
    expect(resolveEnqueueOptions({ runAt: new Date(-1) }, kind).run_at).toBe("1969-12-31T23:59:59.999Z");
  });

  test("a delay of 1.5 s is 1,500 (B72), and one of 2^31 ms is not too long (B70)", () => {
    expect(resolveEnqueueOptions({ delay: 1_500 }, kind).delay_ms).toBe(1_500);
    expect(resolveEnqueueOptions({ delay: 2 ** 31 }, kind).delay_ms).toBe(2_147_483_648);
  });

  const wrong: readonly (readonly [option: string, options: object])[] = [
    ["delay", { delay: "1200" }],
    ["delay", { delay: -1 }],
    ["delay", { delay: -Date.UTC(2026, 0) - 1 }],
    ["delay", { delay: Number.NaN }],
    ["delay", { delay: Number.POSITIVE_INFINITY }],
    ["delay", { delay: 1.5 }],
    ["delay", { delay: 2 ** 53 }],
    ["runAt", { runAt: new Date(Number.NaN) }],
    ["runAt", { runAt: new Date(8.64e15) }],
    ["runAt", { runAt: Date.UTC(300_000, 0, 1) }],
    ["runAt", { runAt: new Date(Date.UTC(10_000, 0, 1)) }],
    ["runAt", { runAt: new Date("-000001-01-01T00:00:00Z") }],
    ["runAt", { runAt: new Date("0000-06-01T00:00:00Z") }],
    ["runAt", { runAt: "2026-01-01T00:00:00Z" }],
    ["runAt", { runAt: { toISOString: () => "2026" } }],
    ["runAt", { runAt: null }],
    ["priority", { priority: 1.5 }],
    ["priority", { priority: 40_000 }],
    ["priority", { priority: 2 ** 31 }],
    ["maxAttempts", { maxAttempts: 0 }],
    ["maxAttempts", { maxAttempts: -1 }],
    ["lane", { lane: "" }],
    ["key", { key: "" }],
    ["key", { key: 5 }],
    ["key", { key: null }],
    ["key", { key: "k\u0000" }],
    ["key", { key: "k\uD800" }],
    ["key", { key: "x".repeat(1_001) }],
    ["key", { key: "\u00fc".repeat(501) }],
    ["keyHolds", { key: "k", keyHolds: "forever" }],
    ["keyHolds", { key: "k", keyHolds: 0 }],
    ["keyHolds", { key: "k", keyHolds: -1 }],
    ["keyHolds", { key: "k", keyHolds: null }],
    ["keyHolds", { keyHolds: "1d" }],
    ["keyHolds", { keyHolds: "until-ended" }],
    ["delay", { delay: "1s", runAt: new Date() }],
    ["delay", { delay: 0, runAt: new Date() }],
    ["uniqueKey", { uniqueKey: "k" }],
    ["enqueue", []],
  ];
  test.each(wrong.map(([option, options]) => [inspect(options, { breakLength: Infinity }).slice(0, 70), option, options] as const))(
    "B72: %s is refused, naming %s",
    (_shown, option, options) => {
      expect(thrownBy(() => resolveEnqueueOptions(options as EnqueueOptions, kind))).toMatchObject({ code: "INVALID_OPTION", option });
    },
  );

  test("a key of 1,000 bytes is a key", () => {
    expect(resolveEnqueueOptions({ key: "\u00fc".repeat(500) }, kind).key).toHaveLength(500);
  });
});
