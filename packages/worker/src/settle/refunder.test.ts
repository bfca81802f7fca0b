import { describe, expect, test } from "vitest";
import { fakeClock } from "../../test/support/fake-clock.js";
import { fakeDatabase, sqlError, statements } from "../../test/support/fake-database.js";
import { Refunder } from "./refunder.js";

function setUp(begun: readonly string[] = []) {
  const { database, answer, sentOf } = fakeDatabase();
  const clock = fakeClock();
  const errors: unknown[] = [];
  const refunder = new Refunder({
    database,
    statements,
    worker: "w",
    clock,
    hasBegun: (id, attempt) => begun.includes(`${id}/${attempt}`),
    onError: (error) => errors.push(error),
  });
  const refunds = () => sentOf(statements.refundAttempts).map((parameters) => parameters.filter((one) => String(one).startsWith("{")));
  return { refunder, answer, clock, errors, refunds };
}

describe("Refunder", () => {
  test("gives back the attempt of one job", async () => {
    const { refunder, refunds } = setUp();
    refunder.refund({ id: "7", attempt: 2 });
    await refunder.stop();
    expect(refunds()).toEqual([["{7}", "{2}"]]);
  });

  test("gives back what sweeps have spent of claims whose answers were lost, but nothing that began here", async () => {
    const { refunder, answer, refunds } = setUp(["8/1"]);
    answer(statements.findExpiredAttempts, () => [
      { id: "7", attempt: 1 },
      { id: "8", attempt: 1 },
      { id: "8", attempt: 2 },
    ]);
    refunder.refundLost();
    await refunder.stop();
    expect(refunds()).toEqual([
      ["{7}", "{1}"],
      ["{8}", "{2}"],
    ]);
  });

  test("tries again when the database does not answer, and tells of it, but not for ever", async () => {
    const { refunder, answer, clock, errors, refunds } = setUp();
    answer(statements.refundAttempts, () => Promise.reject(sqlError("57P01")));
    refunder.refund({ id: "7", attempt: 2 });
    await clock.advanceSlowly(600_000);
    expect(refunds()).toHaveLength(8);
    expect(errors).toHaveLength(8);
    expect(clock.pending).toBe(0);
    await refunder.stop();
  });

  test("tells of it when it cannot find out what was lost", async () => {
    const { refunder, answer, errors } = setUp();
    answer(statements.findExpiredAttempts, () => Promise.reject(sqlError("57P01")));
    refunder.refundLost();
    await refunder.stop();
    expect(errors).toMatchObject([{ code: "DATABASE_ERROR", sqlState: "57P01" }]);
  });
});
