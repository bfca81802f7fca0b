import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../test/support/seeded-random.js";
import { type BackoffMs, backoffCeilingMs, backoffDelayMs, defaultBackoff } from "./backoff.js";

const sevenAttempts = [1, 2, 3, 4, 5, 6, 7];
const seeds = [1, 2026, 987_654_321];
const anyBackoff = fc.record({ baseMs: fc.nat({ max: 86_400_000 }), capMs: fc.nat({ max: 3_155_760_000_000 }) });
const anyAttempt = fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 2_147_483_647 }));
const anyRandom = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

function total(delay: (attempt: number) => number): number {
  return sevenAttempts.reduce((sum, attempt) => sum + delay(attempt), 0);
}

describe("the default back-off of eight attempts", () => {
  test("has ceilings of 2, 4, 8, 16, 32, 64 and 128 s", () => {
    expect(sevenAttempts.map((attempt) => backoffCeilingMs(attempt))).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000]);
  });

  test("waits 254 s at worst, and 127 s on average", () => {
    expect(total((attempt) => backoffCeilingMs(attempt))).toBe(254_000);
    expect(total((attempt) => backoffDelayMs(attempt, defaultBackoff, () => 0.5))).toBe(127_000);
    for (const seed of seeds) {
      const random = seededRandom(seed);
      const totals = Array.from({ length: 20_000 }, () => total((attempt) => backoffDelayMs(attempt, defaultBackoff, random)));
      const mean = totals.reduce((sum, ms) => sum + ms, 0) / totals.length;
      // The standard error of this mean is 0.3 s.
      expect(mean).toBeGreaterThan(125_500);
      expect(mean).toBeLessThan(128_500);
      expect(Math.max(...totals)).toBeLessThan(254_000);
    }
  });

  test("stops growing at five minutes", () => {
    expect([8, 9, 10, 1_100].map((attempt) => backoffCeilingMs(attempt))).toEqual([256_000, 300_000, 300_000, 300_000]);
  });
});

describe("backoffDelayMs", () => {
  test("is uniform below the ceiling: a share of it as large as the random number", () => {
    fc.assert(
      fc.property(anyAttempt, anyBackoff, anyRandom, (attempt, backoff, share) => {
        const ceiling = backoffCeilingMs(attempt, backoff);
        expect(backoffDelayMs(attempt, backoff, () => share)).toBe(share * ceiling);
        expect(ceiling).toBeLessThanOrEqual(backoff.capMs);
        expect(Number.isFinite(ceiling) && ceiling >= 0).toBe(true);
      }),
    );
  });

  test("never waits less on average after a later attempt", () => {
    fc.assert(
      fc.property(anyAttempt, anyBackoff, (attempt, backoff) => {
        expect(backoffCeilingMs(attempt + 1, backoff)).toBeGreaterThanOrEqual(backoffCeilingMs(attempt, backoff));
      }),
    );
  });

  test.each(seeds)("fills every tenth of the range alike, from 0 to the ceiling (seed %d)", (seed) => {
    const random = seededRandom(seed);
    const counts = Array.from({ length: 10 }, () => 0);
    for (let n = 0; n < 100_000; n++) {
      const tenth = Math.floor(backoffDelayMs(3, defaultBackoff, random) / 800);
      counts[tenth] = (counts[tenth] ?? 0) + 1;
    }
    expect(counts).toHaveLength(10);
    // Chi-square of nine degrees of freedom: above 27.9 once in a thousand.
    expect(counts.reduce((sum, count) => sum + (count - 10_000) ** 2 / 10_000, 0)).toBeLessThan(27.9);
  });

  test("draws from Math.random, and anew for each job", () => {
    const delays = new Set(Array.from({ length: 1_000 }, () => backoffDelayMs(7)));
    expect(delays.size).toBeGreaterThan(990);
  });

  test.each(seeds)("B50: a thousand jobs that failed together come back spread over the whole range (seed %d)", (seed) => {
    const random = seededRandom(seed);
    const delays = Array.from({ length: 1_000 }, () => backoffDelayMs(1, { baseMs: 10_000, capMs: 300_000 }, random));
    for (let second = 0; second < 10; second++) {
      const count = delays.filter((ms) => Math.floor(ms / 1_000) === second).length;
      expect(count, `second ${second}`).toBeGreaterThanOrEqual(50);
      expect(count, `second ${second}`).toBeLessThanOrEqual(160);
    }
    expect(Math.min(...delays)).toBeLessThan(1_000);
    expect(Math.max(...delays)).toBeLessThanOrEqual(10_000);
  });

  test("B49: no attempt overflows", () => {
    const backoff: BackoffMs = { baseMs: 1_000, capMs: 86_400_000 };
    const delays = [1, 5, 17, 18, 31, 64, 1_100, 2_147_483_647].map((attempt) => backoffDelayMs(attempt, backoff, () => 0.5));
    expect(delays).toEqual([500, 8_000, 32_768_000, 43_200_000, 43_200_000, 43_200_000, 43_200_000, 43_200_000]);
  });

  test("a base or a cap of 0 means at once", () => {
    expect(backoffDelayMs(5, { baseMs: 0, capMs: 300_000 }, () => 0.9)).toBe(0);
    expect(backoffDelayMs(5, { baseMs: 2_000, capMs: 0 }, () => 0.9)).toBe(0);
  });
});
