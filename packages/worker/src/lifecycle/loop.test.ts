import { describe, expect, test } from "vitest";
import { fakeClock } from "../../test/support/fake-clock.js";
import { Loop } from "./loop.js";

function setUp(intervalMs = 1_000) {
  const clock = fakeClock();
  const rounds: number[] = [];
  const errors: unknown[] = [];
  let round = () => Promise.resolve();
  const loop = new Loop({
    clock,
    intervalMs,
    runOnce: () => {
      rounds.push(clock.now());
      return round();
    },
    onError: (error) => errors.push(error),
  });
  return { clock, loop, rounds, errors, each: (run: () => Promise<void>) => (round = run) };
}

describe("Loop", () => {
  test("runs again and again, after about its interval, and not before it is started", async () => {
    const { clock, loop, rounds } = setUp();
    await clock.advanceSlowly(5_000);
    expect(rounds).toEqual([]);
    loop.start();
    loop.start();
    await clock.advanceSlowly(10_600);
    expect(rounds).toHaveLength(10);
    for (const [n, at] of rounds.entries()) {
      const gap = at - (rounds[n - 1] ?? 5_000);
      expect(gap).toBeGreaterThanOrEqual(950);
      expect(gap).toBeLessThanOrEqual(1_050);
    }
    await loop.stop();
  });

  test("is not ended by a round that fails: it is tried again sooner, then ever later, and at its interval at last", async () => {
    const { clock, loop, rounds, errors, each } = setUp(60_000);
    each(() => Promise.reject(new Error("no")));
    loop.start();
    await clock.advanceSlowly(63_000 + 20_000);
    expect(rounds.length).toBeGreaterThanOrEqual(6);
    expect(errors).toHaveLength(rounds.length);
    const [first, second] = rounds;
    expect(Number(second) - Number(first)).toBeLessThanOrEqual(100);
    each(() => Promise.resolve());
    await clock.advanceSlowly(5_000);
    const healed = rounds.length;
    await clock.advanceSlowly(50_000);
    expect(rounds).toHaveLength(healed);
    await loop.stop();
  });

  test("never runs two rounds at the same time", async () => {
    const { clock, loop, rounds, each } = setUp();
    let end = () => {};
    each(() => new Promise((resolve) => (end = resolve)));
    loop.start();
    await clock.advanceSlowly(10_000);
    expect(rounds).toHaveLength(1);
    end();
    await clock.advanceSlowly(1_100);
    expect(rounds).toHaveLength(2);
    end();
    await loop.stop();
  });

  test("stops after the round that is under way, at once when it sleeps, and leaves no timer", async () => {
    const { clock, loop, rounds, each } = setUp();
    loop.start();
    await loop.stop();
    expect([rounds.length, clock.pending]).toEqual([0, 0]);

    const other = setUp();
    let end = () => {};
    other.each(() => new Promise((resolve) => (end = resolve)));
    other.loop.start();
    await other.clock.advanceSlowly(1_100);
    let isStopped = false;
    const stopped = other.loop.stop().then(() => (isStopped = true));
    await other.clock.advanceSlowly(100);
    expect(isStopped).toBe(false);
    end();
    await stopped;
    await other.loop.stop();
    expect(other.clock.pending).toBe(0);
    each(() => Promise.resolve());
  });

  test("runs its round now when it is woken", async () => {
    const { clock, loop, rounds } = setUp();
    loop.start();
    loop.wake();
    await clock.advanceSlowly(0);
    expect(rounds).toHaveLength(1);
    await loop.stop();
  });
});
