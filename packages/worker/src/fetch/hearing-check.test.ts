import { describe, expect, test } from "vitest";
import { fakeClock, settlePromises } from "../../test/support/fake-clock.js";
import { fakeDatabase, sqlError, statements } from "../../test/support/fake-database.js";
import { HearingCheck } from "./hearing-check.js";

function setUp() {
  const { database, answer, sentOf } = fakeDatabase();
  const clock = fakeClock();
  const errors: unknown[] = [];
  const told = { deaf: 0, heard: 0 };
  const check = new HearingCheck({
    database,
    statements,
    worker: "host:1:abc",
    clock,
    onHeard: () => (told.heard += 1),
    onDeaf: () => (told.deaf += 1),
    onError: (error) => errors.push(error),
  });
  return { check, clock, told, errors, answer, pings: () => sentOf(statements.ringWorkers) };
}

describe("HearingCheck", () => {
  test("notifies itself, and says that it is deaf when it hears nothing for five seconds", async () => {
    const { check, clock, told, pings } = setUp();
    check.start();
    expect(pings()).toEqual([["ping host:1:abc"]]);
    await clock.advanceSlowly(4_999);
    expect(told.deaf).toBe(0);
    await clock.advanceSlowly(1);
    expect([told.deaf, clock.pending]).toEqual([1, 0]);
  });

  test("is content when it hears itself, and not when it hears another", async () => {
    const { check, clock, told } = setUp();
    check.start();
    check.heard("host:2:def");
    expect([clock.pending, check.hears]).toEqual([1, false]);
    check.heard("host:1:abc");
    expect(check.hears).toBe(true);
    await clock.advanceSlowly(60_000);
    expect([told, clock.pending]).toEqual([{ deaf: 0, heard: 1 }, 0]);
  });

  test("begins anew each time, and tries again what could not be sent, of which it says nothing but the error", async () => {
    const { check, clock, told, errors, answer, pings } = setUp();
    check.start();
    check.heard("host:1:abc");
    answer(statements.ringWorkers, () => Promise.reject(sqlError("57P01")));
    check.start();
    await settlePromises();
    await clock.advanceSlowly(60_000);
    expect([told.deaf, check.hears]).toEqual([0, false]);
    expect(errors.length).toBeGreaterThan(5);
    answer(statements.ringWorkers, () => []);
    for (const before = pings().length; pings().length === before;) await clock.advanceSlowly(100);
    check.heard("host:1:abc");
    expect([told.deaf, clock.pending, check.hears]).toEqual([0, 0, true]);
    check.start();
    answer(statements.ringWorkers, () => Promise.reject(sqlError("57P01")));
    check.start();
    check.stop();
    await settlePromises();
    expect(clock.pending).toBe(0);
  });
});
