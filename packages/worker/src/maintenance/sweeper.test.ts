import { describe, expect, test } from "vitest";
import { fakeClock } from "../../test/support/fake-clock.js";
import { fakeDatabase, sqlError, statements } from "../../test/support/fake-database.js";
import { Sweeper } from "./sweeper.js";

function setUp() {
  const { database, answer, sentOf } = fakeDatabase();
  const clock = fakeClock();
  const swept: string[] = [];
  const told = { returned: 0, swept: 0 };
  const sweeper = new Sweeper({
    database,
    statements,
    clock,
    intervalMs: 5_000,
    leaseMs: 30_000,
    othersNeedMs: 10_000,
    known: () => ["7"],
    onReturned: () => (told.returned += 1),
    onSwept: () => (told.swept += 1),
    onExpired: ({ id }) => swept.push(id),
    onError: () => {},
  });
  /** The limits that were asked for: 0 only asks whether the database is there. */
  const limits = () => sentOf(statements.returnExpiredJobs).map((parameters) => Number(parameters.at(-1)));
  const within = () => sentOf(statements.returnExpiredJobs).map(([first]) => first);
  return { sweeper, clock, answer, swept, told, limits, within };
}

const expired = (status: "queued" | "dead") => ({ id: "1", kind: "a", lane: "default", status, attempts: 1, worker: "gone" });

describe("Sweeper", () => {
  test("returns what has expired, and tells of it; only what is due again wakes anybody", async () => {
    const { sweeper, answer, swept, told } = setUp();
    answer(statements.returnExpiredJobs, () => [expired("dead")]);
    await sweeper.runOnce();
    expect([swept, told.returned]).toEqual([["1"], 0]);
    answer(statements.returnExpiredJobs, () => [expired("queued")]);
    await sweeper.runOnce();
    expect([swept, told.returned]).toEqual([["1", "1"], 1]);
  });

  test("tells the end of each sweep, also of one that found nothing", async () => {
    const { sweeper, told } = setUp();
    await sweeper.runOnce();
    expect(told).toEqual({ returned: 0, swept: 1 });
  });

  test("waits for the workers that come back when the database was away, and sweeps then", async () => {
    const { sweeper, clock, answer, swept, limits } = setUp();
    answer(statements.returnExpiredJobs, () => Promise.reject(sqlError("57P03")));
    await expect(sweeper.runOnce()).rejects.toThrow("57P03");
    await expect(sweeper.runOnce()).rejects.toThrow("57P03");
    answer(statements.returnExpiredJobs, () => [expired("queued")]);
    const before = limits().length;
    await sweeper.runOnce();
    expect(limits().slice(before)).toEqual([0]);
    clock.advance(9_999);
    await sweeper.runOnce();
    expect(swept).toEqual([]);
    clock.advance(1);
    await sweeper.runOnce();
    expect(swept).toEqual(["1"]);
    await sweeper.runOnce();
    expect(swept).toEqual(["1", "1"]);
  });

  test("looks at what was claimed lately only while a look at everything takes long, and at everything now and then", async () => {
    const { sweeper, clock, answer, within } = setUp();
    let tookMs = 40;
    answer(statements.returnExpiredJobs, () => {
      clock.block(tookMs);
      return [];
    });
    for (let n = 0; n < 3; n++) await sweeper.runOnce();
    expect(within()).toEqual([null, null, null]);
    tookMs = 200;
    await sweeper.runOnce();
    await sweeper.runOnce();
    clock.advance(9_000);
    await sweeper.runOnce();
    expect(within().slice(3)).toEqual([null, "60000", "60000"]);
    clock.advance(1_000);
    await sweeper.runOnce();
    expect(within().at(-1)).toBe(null);
    // A database that stood still.
    tookMs = 10_000;
    clock.advance(10_000);
    await sweeper.runOnce();
    tookMs = 1;
    clock.advance(59_000);
    await sweeper.runOnce();
    clock.advance(1_001);
    await sweeper.runOnce();
    expect(within().slice(-3)).toEqual([null, "60000", null]);
  });
});
