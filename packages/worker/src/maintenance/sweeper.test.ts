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
    othersNeedMs: 10_000,
    known: () => ["7"],
    onReturned: () => (told.returned += 1),
    onSwept: () => (told.swept += 1),
    onExpired: ({ id }) => swept.push(id),
    onError: () => {},
  });
  /** The limits that were asked for: 0 only asks whether the database is there. */
  const limits = () =>
    sentOf(statements.returnExpiredJobs).map((parameters) => Number(parameters.find((one) => /^\d+$/.test(String(one)))));
  return { sweeper, clock, answer, swept, told, limits };
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
});
