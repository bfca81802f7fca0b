import { expect, it } from "vitest";
import { mix, type MixKind, pickKind } from "./mix.js";
import { seededRandom } from "./seeded-random.js";
import { queue } from "./soak-queue.js";

it("picks every kind as often as its share says", () => {
  const random = seededRandom(1);
  const picks = 200_000;
  const seen = new Map<MixKind, number>();
  for (let n = 0; n < picks; n++) {
    const kind = pickKind(random);
    seen.set(kind, (seen.get(kind) ?? 0) + 1);
  }
  for (const [kind, share] of Object.entries(mix) as [MixKind, number][]) {
    const expected = (share / 1_000) * picks;
    expect(Math.abs((seen.get(kind) ?? 0) - expected), kind).toBeLessThan(5 * Math.sqrt(expected) + 1);
  }
});

it("has shares that add up to a thousand, of kinds that the queue has", () => {
  expect(Object.values(mix).reduce<number>((sum, share) => sum + share, 0)).toBe(1_000);
  expect(Object.keys(mix).sort()).toEqual(Object.keys(queue.jobs).sort());
});
