import { describe, expect, test } from "vitest";
import { settlePromises } from "../../test/support/fake-clock.js";
import { fakeDatabase, sqlError, statements } from "../../test/support/fake-database.js";
import { OthersBell } from "./others-bell.js";
import { parseNotification } from "./notification.js";

function setUp() {
  const { database, answer, sentOf } = fakeDatabase();
  const errors: unknown[] = [];
  const bell = new OthersBell({ database, statements, onError: (error) => errors.push(error) });
  return { bell, answer, errors, rung: () => sentOf(statements.ringWorkers).map(([message]) => String(message)) };
}

const putBack = (lane: string, priority: number, run_at = "1767225600999999") => ({ lane, priority, run_at });

describe("OthersBell", () => {
  test("rings once for each line of a batch, since the first second in which something is due there", async () => {
    const { bell, rung } = setUp();
    bell.add(putBack("mail", 5, "1767225602000000"));
    bell.add(putBack("mail", 5));
    bell.add(putBack("mail", 5, "1767225601000000"));
    bell.add(putBack("a lane with blanks", 0));
    expect(rung()).toEqual([]);
    await settlePromises();
    expect(rung()).toEqual(["5@1767225600 mail", "0@1767225600 a lane with blanks"]);
    expect(parseNotification(rung()[0] ?? "")).toMatchObject({ lane: "mail", priority: 5, since: 1_767_225_600_000_000 });
    bell.add(putBack("mail", 5));
    await settlePromises();
    expect(rung()).toHaveLength(3);
  });

  test.each([
    ["more lines than fit", Array.from({ length: 17 }, (_, n) => `l${n}`)],
    ["a lane that is too long", ["\u00fc".repeat(91)]],
  ])("rings for everything when there are %s", async (_name, lanes) => {
    const { bell, rung } = setUp();
    for (const lane of lanes) bell.add(putBack(lane, 5));
    await settlePromises();
    expect(rung()).toEqual(["*"]);
  });

  test("tells of a ring that failed, and rings again for the next", async () => {
    const { bell, answer, errors, rung } = setUp();
    let failures = 1;
    answer(statements.ringWorkers, () => {
      if (failures-- > 0) throw sqlError("57P01");
      return [];
    });
    bell.add(putBack("mail", 5));
    await settlePromises();
    expect(errors).toMatchObject([{ code: "57P01" }]);
    bell.add(putBack("mail", 5));
    await settlePromises();
    expect(rung()).toHaveLength(2);
  });
});
