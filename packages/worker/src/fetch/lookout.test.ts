import { describe, expect, test } from "vitest";
import type { LaneAhead, Straggler } from "@queue/core/internal";
import { fakeClock, settlePromises } from "../../test/support/fake-clock.js";
import { fakeDatabase, sqlError, statements } from "../../test/support/fake-database.js";
import { heldAnswers } from "../../test/support/held-answers.js";
import { Lines } from "./lines.js";
import { Lookout } from "./lookout.js";

const pollIntervalMs = 10_000;

function setUp({ served }: { readonly served?: ReadonlySet<string> } = {}) {
  const { database, answer, sentOf } = fakeDatabase();
  const clock = fakeClock();
  const lines = new Lines([{ lane: "default", priority: 5 }], served, new Map());
  const errors: unknown[] = [];
  const founds: number[] = [];
  const lookout = new Lookout({
    database,
    statements,
    clock,
    lines,
    kinds: ["a", "b"],
    onFound: () => founds.push(clock.now()),
    onError: (error) => errors.push(error),
  });
  return {
    lookout,
    lines,
    clock,
    errors,
    founds,
    answer,
    looks: () => sentOf(statements.lookAhead),
    looksBehind: () => sentOf(statements.lookBehind),
    known: () => lines.groups(() => 1, 1, clock.now()).flatMap((group) => group.lines.map(({ lane }) => lane)),
    /** A claim reads every line to its end. */
    readAll(atMs = clock.now()) {
      const groups = lines.groups(() => 1, 1, atMs);
      lines.answered(groups, { claimed: [], now: String(atMs * 1_000), paused: [], completed: [] }, 1);
    },
  };
}

const ahead = (lane: string, due_in_ms: string | null = null): LaneAhead => ({ lane, priority: 1, due_in_ms });

describe("Lookout.look", () => {
  test("takes note of the lines that have jobs, of the worker's kinds", async () => {
    const { lookout, answer, looks, known } = setUp();
    answer(statements.lookAhead, () => [ahead("found")]);
    await lookout.look();
    expect(known()).toEqual(["found", "default"]);
    expect(looks()).toEqual([["[]", '{"a","b"}']]);
  });

  test("looks again for whoever asks while a look is under way, which may not see why, and once for all of them", async () => {
    const { lookout, answer, looks, known } = setUp();
    const held = heldAnswers<LaneAhead>();
    answer(statements.lookAhead, held.answer);
    const ended: string[] = [];
    const first = lookout.look().then(() => ended.push("first"));
    await settlePromises();
    const others = ["second", "third"].map((name) => lookout.look().then(() => ended.push(name)));
    await settlePromises();
    expect(looks()).toHaveLength(1);
    await held.give([]);
    expect([looks().length, ended]).toEqual([2, []]);
    await held.give([ahead("found")]);
    await Promise.all([first, ...others]);
    expect([looks().length, known()]).toEqual([2, ["found", "default"]]);
  });

  test("fails for all who wait for it, is made again after half a second, and claims what it finds then", async () => {
    const { lookout, clock, answer, founds, known } = setUp();
    const held = heldAnswers<LaneAhead>();
    answer(statements.lookAhead, held.answer);
    const looks = [lookout.look(), lookout.look()].map((look) => look.catch((error: unknown) => error));
    await settlePromises();
    const failure = sqlError("57P01");
    await held.fail(failure);
    expect(await Promise.all(looks)).toEqual([failure, failure]);
    await clock.advanceSlowly(499);
    expect(held.awaited).toBe(0);
    await clock.advanceSlowly(10);
    expect(held.awaited).toBe(1);
    founds.length = 0;
    await held.give([ahead("found")]);
    expect(founds).toHaveLength(1);
    expect(known()).toEqual(["found", "default"]);
  });

  test("tells of a failure that nobody waits for, and goes on trying", async () => {
    const { lookout, clock, answer, errors, looks } = setUp();
    let failures = 3;
    answer(statements.lookAhead, () => {
      if (failures-- > 0) throw sqlError("57P01");
      return [];
    });
    lookout.lookEverywhere();
    await clock.advanceSlowly(5_000);
    expect(errors).toHaveLength(3);
    expect(looks()).toHaveLength(4);
    expect(clock.pending).toBe(0);
  });
});

describe("Lookout.lookEverywhere", () => {
  test("claims at once, with a look far below, and once more what the look has found", async () => {
    const { lookout, lines, answer, founds, known, readAll } = setUp();
    for (let round = 0; round < 2; round++) readAll(1_000_000);
    const held = heldAnswers<LaneAhead>();
    answer(statements.lookAhead, held.answer);
    lookout.lookEverywhere();
    expect(founds).toHaveLength(1);
    const [group] = lines.groups(() => 1, 1, 1_000_000);
    expect(group?.lines[0]?.since).toBe(String((1_000_000 - 256_000) * 1_000));
    await settlePromises();
    await held.give([ahead("found")]);
    expect(founds).toHaveLength(2);
    expect(known()).toEqual(["found", "default"]);
  });

  test("does nothing any more after a stop", async () => {
    const { lookout, founds, looks } = setUp();
    await lookout.stop();
    lookout.lookEverywhere();
    await settlePromises();
    expect([founds.length, looks().length]).toEqual([0, 0]);
  });
});

describe("Lookout.lookAfter", () => {
  test("claims and looks when the earliest of several moments has come, and not for the others", async () => {
    const { lookout, clock, looks, founds } = setUp();
    for (const ms of [900, 300, 600]) lookout.lookAfter(ms);
    await clock.advanceSlowly(300);
    expect(looks()).toHaveLength(0);
    await clock.advanceSlowly(5);
    expect(looks()).toHaveLength(1);
    // At once, and when the look has said where.
    expect(founds).toEqual([301, 301]);
    await clock.advanceSlowly(10_000);
    expect(looks()).toHaveLength(1);
  });

  test("keeps a moment that it was told of while a look was under way that did not see it", async () => {
    const { lookout, clock, answer, looks } = setUp();
    const held = heldAnswers<LaneAhead>();
    answer(statements.lookAhead, held.answer);
    void lookout.look();
    await settlePromises();
    lookout.lookAfter(200);
    await held.give([ahead("default", "5000")]);
    await clock.advanceSlowly(210);
    expect(looks()).toHaveLength(2);
    await held.give([]);
    await lookout.stop();
  });

  test("plans the next moment from what the look has found in the lanes that it serves, not too near", async () => {
    const { lookout, clock, answer, looks } = setUp({ served: new Set(["default"]) });
    answer(statements.lookAhead, () => [ahead("other", "100"), ahead("default", "700.4"), ahead("default", null)]);
    await lookout.look();
    expect(clock.nextInMs).toBeCloseTo(701.4);
    answer(statements.lookAhead, () => [ahead("default", "0.2")]);
    await clock.advanceSlowly(702);
    expect(looks()).toHaveLength(2);
    expect(clock.nextInMs).toBeGreaterThan(4);
    await lookout.stop();
    expect(clock.pending).toBe(0);
  });

  test("is forgotten at a stop, also when a look that is under way would plan one", async () => {
    const { lookout, clock, answer } = setUp();
    const held = heldAnswers<LaneAhead>();
    answer(statements.lookAhead, held.answer);
    lookout.lookAfter(100);
    void lookout.look();
    await settlePromises();
    const stopped = lookout.stop();
    await held.give([ahead("default", "300")]);
    await stopped;
    lookout.lookAfter(5);
    expect(clock.pending).toBe(0);
  });
});

describe("Lookout.lookEvery", () => {
  test("looks the first time, and then not before half a poll interval has passed", async () => {
    const { lookout, clock, looks } = setUp();
    await lookout.lookEvery(pollIntervalMs / 2);
    await lookout.lookEvery(pollIntervalMs / 2);
    expect(looks()).toHaveLength(1);
    await clock.advanceSlowly(pollIntervalMs / 2);
    await lookout.lookEvery(pollIntervalMs / 2);
    expect(looks()).toHaveLength(2);
  });

  test("takes a fiftieth of the time at most, however slow looks are", async () => {
    const { lookout, clock, answer, looks } = setUp();
    await lookout.look();
    let tookMs = 1_000;
    answer(statements.lookAhead, () => {
      clock.block(tookMs);
      return [];
    });
    await lookout.look();
    await clock.advanceSlowly(48_000);
    await lookout.lookEvery(pollIntervalMs / 2);
    expect(looks()).toHaveLength(2);
    await clock.advanceSlowly(2_100);
    tookMs = 0;
    await lookout.lookEvery(pollIntervalMs / 2);
    expect(looks()).toHaveLength(3);
  });

  test("joins a look that is under way", async () => {
    const { lookout, answer, looks } = setUp();
    const held = heldAnswers<LaneAhead>();
    answer(statements.lookAhead, held.answer);
    const first = lookout.lookEvery(pollIntervalMs / 2);
    await settlePromises();
    const second = lookout.lookEvery(pollIntervalMs / 2);
    await held.give([]);
    await Promise.all([first, second]);
    expect(looks()).toHaveLength(1);
  });

  test("takes known lines to have jobs, and forgets those that have none once a minute, or more seldom when that is slow", async () => {
    const { lookout, lines, clock, answer, looks, known } = setUp();
    const given = () => JSON.parse(String(looks().at(-1)?.[0])) as unknown[];
    lines.add({ lane: "told", priority: 1 });
    answer(statements.lookAhead, () => {
      clock.block(1_000);
      return [ahead("told")];
    });
    await lookout.look();
    expect(given()).toEqual([]);
    answer(statements.lookAhead, () => []);
    await clock.advanceSlowly(199_000);
    await lookout.look();
    expect(given()).toEqual([
      { lane: "default", priority: 5 },
      { lane: "told", priority: 1 },
    ]);
    await clock.advanceSlowly(1_100);
    await lookout.look();
    expect([given(), known()]).toEqual([[], ["default"]]);
    answer(statements.lookAhead, () => {
      throw sqlError("22P05");
    });
    await clock.advanceSlowly(1_000);
    await expect(lookout.look()).rejects.toThrow("22P05");
    answer(statements.lookAhead, () => []);
    // What it was told to be known may be why.
    await lookout.look();
    expect(given()).toEqual([]);
    await lookout.stop();
  });

  test("looks again soon when the last one failed", async () => {
    const { lookout, answer, looks } = setUp();
    answer(statements.lookAhead, () => {
      throw sqlError("57P01");
    });
    for (let round = 0; round < 2; round++) await lookout.lookEvery(pollIntervalMs / 2).catch(() => {});
    expect(looks()).toHaveLength(2);
    await lookout.stop();
  });
});

describe("Lookout.lookBehind", () => {
  const straggler = (run_at: string, lane = "default"): Straggler => ({ lane, priority: 5, run_at });

  test("looks below all that claims look at, and lets the next claim begin at what it finds", async () => {
    const { lookout, lines, answer, looksBehind, founds, readAll } = setUp();
    for (let round = 0; round < 2; round++) readAll(1_000_000);
    answer(statements.lookBehind, () => [straggler("123456789")]);
    await lookout.lookBehind();
    const [parameters = []] = looksBehind();
    expect(parameters).toEqual(
      expect.arrayContaining([JSON.stringify([{ lane: "default", priority: 5, below: 744_000_000 }]), '{"a","b"}']),
    );
    expect(founds).toHaveLength(1);
    const [group] = lines.groups(() => 1, 1, 1_000_000);
    expect(Number(group?.lines[0]?.since)).toBeLessThanOrEqual(123_456_789);
  });

  test("wakes nobody when there is nothing", async () => {
    const { lookout, founds, looksBehind, readAll } = setUp();
    readAll(1_000_000);
    await lookout.lookBehind();
    expect([looksBehind().length, founds.length]).toEqual([1, 0]);
  });

  test("does not look where every claim begins at the beginning", async () => {
    const { lookout, looksBehind } = setUp();
    await lookout.lookBehind();
    expect(looksBehind()).toEqual([]);
  });

  test("happens about every minute from the start on, and not after a stop", async () => {
    const { lookout, clock, looksBehind, readAll } = setUp();
    readAll();
    lookout.start();
    await clock.advanceSlowly(50_000);
    expect(looksBehind()).toHaveLength(0);
    await clock.advanceSlowly(20_000);
    expect(looksBehind()).toHaveLength(1);
    await clock.advanceSlowly(240_000);
    expect(looksBehind().length).toBeGreaterThanOrEqual(4);
    await lookout.stop();
    expect(clock.pending).toBe(0);
    const before = looksBehind().length;
    await clock.advanceSlowly(200_000);
    expect(looksBehind()).toHaveLength(before);
  });

  test("takes a two-hundredth of the time at most", async () => {
    const { lookout, clock, answer, looksBehind, readAll } = setUp();
    readAll();
    answer(statements.lookBehind, () => {
      clock.block(3_000);
      return [];
    });
    lookout.start();
    await clock.advanceSlowly(70_000);
    expect(looksBehind()).toHaveLength(1);
    await clock.advanceSlowly(520_000);
    expect(looksBehind()).toHaveLength(1);
    await clock.advanceSlowly(150_000);
    expect(looksBehind()).toHaveLength(2);
    await lookout.stop();
  });

  test("that fails is told, and made again", async () => {
    const { lookout, clock, answer, errors, looksBehind, readAll } = setUp();
    readAll();
    let failures = 1;
    answer(statements.lookBehind, () => {
      if (failures-- > 0) throw sqlError("57014");
      return [];
    });
    lookout.start();
    await clock.advanceSlowly(70_000);
    expect(errors).toHaveLength(1);
    expect(looksBehind()).toHaveLength(2);
    await lookout.stop();
  });
});
