import { describe, expect, test } from "vitest";
import type { ArmedBell } from "@queue/core/internal";
import { fakeClock, settlePromises } from "../../test/support/fake-clock.js";
import { fakeDatabase, sqlError, statements } from "../../test/support/fake-database.js";
import { heldAnswers } from "../../test/support/held-answers.js";
import { Bell } from "./bell.js";

const pollIntervalMs = 1_000;

function setUp({ lanes }: { readonly lanes?: readonly string[] } = {}) {
  const { database, answer, sentOf } = fakeDatabase();
  const clock = fakeClock();
  const told = { polls: 0, looks: 0 };
  const errors: unknown[] = [];
  let isUp = true;
  let found = 0;
  const bell: Bell = new Bell({
    statements,
    executor: () => (isUp ? database.executor : undefined),
    lanes,
    clock,
    pollIntervalMs,
    // Each poll is a claim.
    onPoll: () => {
      told.polls += 1;
      bell.claimed(found);
    },
    onLook: () => (told.looks += 1),
    onError: (error) => errors.push(error),
  });
  const xids = (xid: string | null) => answer(statements.armBell, (): ArmedBell[] => [{ xid }]);
  const settled = (isSettled: boolean) => answer(statements.isBellSettled, () => [{ settled: isSettled ? 1 : 0 }]);
  xids("7");
  settled(true);
  return {
    bell,
    clock,
    told,
    errors,
    answer,
    xids,
    settled,
    armings: () => sentOf(statements.armBell),
    mutings: () => sentOf(statements.muteBell).length,
    questions: () => sentOf(statements.isBellSettled),
    cut: () => (isUp = false),
    /** Each poll finds so many from now on. */
    finds: (count: number) => (found = count),
    async armed() {
      bell.listening();
      bell.heard();
      await settlePromises();
      told.looks = 0;
    },
    rings(count: number) {
      return Array.from({ length: count }, () => bell.rang());
    },
  };
}

describe("a bell", () => {
  test("is armed when the worker hears, and not when it listens only: through some poolers nothing would arrive", async () => {
    const { bell, armings, told } = setUp();
    bell.listening();
    await settlePromises();
    expect(armings()).toEqual([]);
    bell.heard();
    await settlePromises();
    // What came before the keys were held, and what came before all had seen them.
    expect([armings().length, told.looks]).toEqual([1, 2]);
  });

  test.each([
    [undefined, "{}"],
    [["mail", 'a "b"'], String.raw`{"mail","a \"b\""}`],
    [Array.from({ length: 101 }, (_, n) => `lane ${n}`), "{}"],
  ])("rings for the lanes %j, or for all when there are too many", async (lanes, expected) => {
    const { bell, armings } = setUp(lanes === undefined ? {} : { lanes });
    bell.heard();
    await settlePromises();
    expect(armings()[0]).toContain(expected);
  });

  test("polls, ever more slowly, while a transaction runs that may not ring, and looks when it has ended", async () => {
    const { bell, clock, told, settled, questions } = setUp();
    settled(false);
    bell.heard();
    await clock.advanceSlowly(100);
    expect(told.looks).toBe(1);
    expect(told.polls).toBeGreaterThanOrEqual(8);
    expect(told.polls).toBeLessThan(12);
    await clock.advanceSlowly(60_000);
    expect(told.polls).toBeGreaterThan(60);
    expect(questions()[0]).toContain("7");
    settled(true);
    await clock.advanceSlowly(pollIntervalMs);
    expect([told.looks, clock.pending]).toEqual([2, 0]);
  });

  test("is tried again at once when somebody was just looking, and in between gives back what it may hold", async () => {
    const { bell, clock, xids, armings, mutings } = setUp();
    xids(null);
    bell.heard();
    await settlePromises();
    expect([armings().length, mutings()]).toEqual([1, 1]);
    xids("7");
    await clock.advanceSlowly(5);
    expect([armings().length, mutings(), clock.pending]).toEqual([2, 1, 0]);
  });

  test("is armed anew on each connection; what belongs to one that was lost is void", async () => {
    const { bell, clock, settled, armings, questions, told } = setUp();
    settled(false);
    bell.heard();
    await settlePromises();
    bell.listening();
    const before = [questions().length, told.polls];
    await clock.advanceSlowly(10_000);
    expect([questions().length, told.polls]).toEqual(before);
    bell.heard();
    await settlePromises();
    expect(armings()).toHaveLength(2);
  });

  test("reports what fails, and tries again; of a connection that is lost nothing is said", async () => {
    const { bell, clock, answer, xids, errors, cut, armings } = setUp();
    answer(statements.armBell, () => Promise.reject(sqlError("57014")));
    bell.heard();
    await settlePromises();
    expect(errors).toHaveLength(1);
    xids("7");
    await clock.advanceSlowly(10_000);
    expect([armings().length, clock.pending]).toEqual([2, 0]);
    answer(statements.armBell, () => {
      cut();
      return Promise.reject(sqlError("57P01"));
    });
    bell.listening();
    bell.heard();
    await clock.advanceSlowly(60_000);
    expect([errors.length, armings().length]).toEqual([1, 3]);
  });

  test("is armed by one statement at a time: giving back after one would take what the next one has taken", async () => {
    const { bell, clock, answer, armings, mutings } = setUp();
    const held = heldAnswers<ArmedBell>();
    answer(statements.armBell, held.answer);
    bell.heard();
    bell.heard();
    await settlePromises();
    expect(armings()).toHaveLength(1);
    await held.give([{ xid: null }]);
    expect(mutings()).toBe(1);
    await clock.advanceSlowly(5);
    expect(armings()).toHaveLength(2);
  });

  test("is not armed any more when it has stopped, whatever is heard then", async () => {
    const { bell, clock, armings } = setUp();
    bell.stop();
    bell.heard();
    await clock.advanceSlowly(10_000);
    expect(armings()).toEqual([]);
  });

  test("leaves nothing behind when it is stopped", async () => {
    const { bell, clock, settled, armed, rings } = setUp();
    settled(false);
    await armed();
    bell.stop();
    expect(clock.pending).toBe(0);
    await armed();
    rings(201);
    bell.stop();
    await settlePromises();
    expect(clock.pending).toBe(0);
  });
});

describe("a bell that rings often", () => {
  test("wakes for each of two hundred rings a second, however long that goes on", async () => {
    const { clock, armed, rings, mutings } = setUp();
    await armed();
    for (let second = 0; second < 10; second++) {
      expect(rings(190)).not.toContain(false);
      await clock.advanceSlowly(1_001);
    }
    expect(mutings()).toBe(0);
  });

  test("is muted; the worker polls every few milliseconds, and rings for others do not wake it", async () => {
    const { bell, clock, armed, rings, mutings, told, finds } = setUp();
    await armed();
    finds(5);
    rings(201);
    expect([mutings(), bell.rang()]).toEqual([1, false]);
    await clock.advanceSlowly(100);
    expect(told.polls).toBe(50);
  });

  test("polls ever more slowly while it finds nothing, down to twenty times a second, and quickly again when it does", async () => {
    const { clock, armed, rings, told, finds } = setUp();
    await armed();
    rings(201);
    await clock.advanceSlowly(400);
    const before = told.polls;
    await clock.advanceSlowly(100);
    expect(told.polls - before).toBeLessThanOrEqual(3);
    finds(1);
    await clock.advanceSlowly(400);
    expect(told.polls - before).toBeGreaterThan(50);
  });

  test("is muted by rings that bring nothing, sooner: another worker is always quicker", async () => {
    const { bell, armed, mutings } = setUp();
    await armed();
    for (let n = 0; n < 25; n++) {
      bell.rang();
      bell.claimed(0);
    }
    expect(mutings()).toBe(0);
    bell.rang();
    bell.claimed(0);
    expect(mutings()).toBe(1);
  });

  test("is not muted by claims that nobody rang for, nor by rings that bring jobs", async () => {
    const { bell, armed, mutings } = setUp();
    await armed();
    for (let n = 0; n < 100; n++) {
      bell.claimed(0);
      bell.rang();
      bell.claimed(1);
    }
    expect(mutings()).toBe(0);
  });

  test("is armed again when little comes, and not while much does", async () => {
    const { clock, armed, rings, armings, finds, told } = setUp();
    await armed();
    finds(5);
    rings(201);
    await clock.advanceSlowly(20_000);
    expect(armings()).toHaveLength(1);
    finds(0);
    await clock.advanceSlowly(3_000);
    expect([armings().length, clock.pending]).toEqual([2, 0]);
    expect(told.looks).toBe(2);
  });

  test("stays muted while no claim is made, as when all slots are taken, and polls slowly then", async () => {
    const { bell, clock, armed, rings, armings, told } = setUp();
    await armed();
    rings(201);
    bell.claimed = () => {};
    await clock.advanceSlowly(60_000);
    expect(armings()).toHaveLength(1);
    expect(told.polls).toBeLessThan(1_300);
  });

  test("gives its keys back again when that failed", async () => {
    const { clock, answer, armed, rings, mutings, finds } = setUp();
    await armed();
    finds(5);
    answer(statements.muteBell, () => Promise.reject(sqlError("57014")));
    rings(201);
    await clock.advanceSlowly(600);
    expect(mutings()).toBe(1);
    answer(statements.muteBell, () => []);
    await clock.advanceSlowly(600);
    expect(mutings()).toBe(2);
    await clock.advanceSlowly(20_000);
    expect(mutings()).toBe(2);
  });

  test("is armed more and more seldom when it goes to and fro", async () => {
    const { clock, armed, rings, armings } = setUp();
    await armed();
    for (let second = 0; second < 60; second++) {
      rings(201);
      await clock.advanceSlowly(1_000);
    }
    expect(armings().length).toBeLessThan(12);
  });
});
