import { describe, expect, test } from "vitest";
import { anAttempt } from "../../test/support/an-attempt.js";
import { fakeClock } from "../../test/support/fake-clock.js";
import type { RunningAttempt } from "./running-attempt.js";
import { StartQueue } from "./start-queue.js";

function setUp(concurrency = 2) {
  const clock = fakeClock();
  const started: string[] = [];
  const tooLate: string[][] = [];
  const idsOf = (attempts: readonly RunningAttempt[]) => attempts.map(({ id }) => id);
  const queue = new StartQueue({
    concurrency,
    clock,
    start: ({ id }) => void started.push(id),
    onWaitedTooLong: (attempts) => void tooLate.push(idsOf(attempts)),
  });
  return {
    clock,
    queue,
    started,
    tooLate,
    add: (...ids: string[]) => ids.forEach((id) => queue.add(anAttempt({ id }))),
    takeAll: () => idsOf(queue.takeAll()),
  };
}

describe("StartQueue", () => {
  test("begins as many as there are slots, and the others in their order as slots become free", () => {
    const { queue, started, add } = setUp();
    add("1", "2", "3", "4");
    expect(started).toEqual(["1", "2"]);
    queue.ended();
    expect(started).toEqual(["1", "2", "3"]);
    queue.ended();
    queue.ended();
    add("5");
    expect(started).toEqual(["1", "2", "3", "4", "5"]);
    add("6");
    expect(started).toHaveLength(5);
  });

  test("begins what has a higher priority first, also when it comes later, and equals in their order", () => {
    const { queue, started, add } = setUp(1);
    add("1", "2", "3");
    queue.add(anAttempt({ id: "4", priority: 1 }));
    queue.add(anAttempt({ id: "5", priority: 9 }));
    queue.add(anAttempt({ id: "6", priority: 1 }));
    add("7");
    for (let n = 0; n < 6; n++) queue.ended();
    expect(started).toEqual(["1", "4", "6", "2", "3", "7", "5"]);
  });

  test("hands back what has waited for more than two rounds, and only that", () => {
    const { clock, queue, started, tooLate, add } = setUp();
    add("1", "2", "3", "4");
    clock.advance(60);
    add("5");
    clock.advance(80);
    expect(tooLate).toEqual([]);
    clock.advance(20);
    expect(tooLate).toEqual([["3", "4"]]);
    clock.advance(50);
    expect(tooLate).toEqual([["3", "4"], ["5"]]);
    queue.ended();
    expect(started).toEqual(["1", "2"]);
    expect(clock.pending).toBe(0);
  });

  test("gives a process that stood still the time to begin what it holds", () => {
    const { clock, queue, started, tooLate, add } = setUp();
    add("1", "2", "3");
    clock.block(5_000);
    clock.advance(1);
    expect(tooLate).toEqual([]);
    queue.ended();
    expect(started).toEqual(["1", "2", "3"]);
  });

  test("gives all that wait to whoever stops it, once, and needs no timer then", () => {
    const { clock, queue, started, tooLate, add, takeAll } = setUp();
    add("1", "2", "3", "4");
    expect(takeAll()).toEqual(["3", "4"]);
    expect(takeAll()).toEqual([]);
    queue.ended();
    expect([started, tooLate, clock.pending]).toEqual([["1", "2"], [], 0]);
  });
});
