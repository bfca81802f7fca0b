import { describe, expect, test } from "vitest";
import { settlePromises } from "../../test/support/fake-clock.js";
import { fakeDatabase, sqlError, statements } from "../../test/support/fake-database.js";
import { OthersBell } from "./others-bell.js";

function setUp() {
  const { database, answer, sentOf } = fakeDatabase();
  const errors: unknown[] = [];
  const bell = new OthersBell({ database, statements, onError: (error) => errors.push(error) });
  return { bell, answer, errors, rung: () => sentOf(statements.ringForJobs).map(([jobs]) => JSON.parse(String(jobs)) as unknown) };
}

const putBack = (lane: string) => ({ lane, priority: 5, run_at: "1767225600999999" });

describe("OthersBell", () => {
  test("rings once for all that are put back in a turn of the event loop, and again for the next", async () => {
    const { bell, rung } = setUp();
    bell.add(Object.assign(putBack("mail"), { payload: "is nobody's business" }));
    bell.add(putBack("default"));
    expect(rung()).toEqual([]);
    await settlePromises();
    expect(rung()).toEqual([[putBack("mail"), putBack("default")]]);
    bell.add(putBack("mail"));
    await settlePromises();
    expect(rung()).toHaveLength(2);
  });

  test("tells of a ring that failed, and rings again for the next", async () => {
    const { bell, answer, errors, rung } = setUp();
    let failures = 1;
    answer(statements.ringForJobs, () => {
      if (failures-- > 0) throw sqlError("57P01");
      return [];
    });
    bell.add(putBack("mail"));
    await settlePromises();
    expect(errors).toMatchObject([{ code: "57P01" }]);
    bell.add(putBack("default"));
    await settlePromises();
    expect(rung().at(-1)).toEqual([putBack("default")]);
  });
});
