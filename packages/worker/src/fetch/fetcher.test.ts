import { describe, expect, test } from "vitest";
import type { LaneAhead } from "@queue/core/internal";
import { aRow, lanesIn } from "../../test/support/claim-rows.js";
import { settlePromises } from "../../test/support/fake-clock.js";
import { sqlError, statements } from "../../test/support/fake-database.js";
import { heldAnswers } from "../../test/support/held-answers.js";
import { pollIntervalMs, setUpFetcher as setUp } from "../../test/support/set-up-fetcher.js";

const noKinds: LaneAhead[] = [];

describe("Fetcher", () => {
  test("claims again until a claim comes back short, and sleeps then", async () => {
    const { slots, claimed, answerClaims, claims, begin, stop } = setUp({ concurrency: 1_000 });
    let left = 1_234;
    answerClaims((parameters) => {
      const limit = Math.min(left, Number(parameters.find((parameter) => parameter === "500" || parameter === String(slots.free)) ?? 0));
      left -= limit;
      return Array.from({ length: limit }, (_, n) => aRow(String(left + n)));
    });
    await begin();
    expect(claimed).toHaveLength(1_000);
    expect(claims()).toHaveLength(2);
    for (let n = 0; n < 500; n++) slots.release("default");
    await settlePromises();
    expect(claimed).toHaveLength(1_234);
    await settlePromises();
    expect(claims()).toHaveLength(3);
    await stop();
  });

  test("keeps a ring that comes while a claim is under way", async () => {
    const { fetcher, holdClaims, claims, begin, stop } = setUp();
    const held = holdClaims();
    await begin();
    fetcher.wake();
    await held.give([]);
    expect(claims()).toHaveLength(2);
    await held.give([]);
    expect(claims()).toHaveLength(2);
    await stop();
  });

  test("claims from a line that was told of while a look was under way that did not see it", async () => {
    const { fetcher, lines, answer, claims, begin, stop } = setUp();
    const held = heldAnswers<LaneAhead>();
    answer(statements.lookAhead, held.answer);
    await begin();
    lines.add({ lane: "new", priority: 1 });
    fetcher.wake();
    await held.give(noKinds);
    expect(lanesIn(claims()[0])).toEqual(["new", "default"]);
    await stop();
  });

  test("claims again at once for a slot of a full lane that became free while a claim was under way", async () => {
    const { slots, claimed, holdClaims, claims, begin, stop } = setUp({ ceilings: new Map([["default", 2]]) });
    const held = holdClaims();
    slots.take("default");
    await begin();
    slots.release("default");
    await held.give([aRow("1")]);
    expect(claims()).toHaveLength(2);
    await held.give([aRow("2")]);
    expect(claimed.map(({ id }) => id)).toEqual(["1", "2"]);
    expect(claims()).toHaveLength(2);
    await stop();
  });

  test("claims when a lane has room again that was full at the last claim", async () => {
    const { lines, slots, claims, begin, stop } = setUp({ ceilings: new Map([["mail", 1]]) });
    lines.add({ lane: "mail", priority: 5 });
    slots.take("mail");
    await begin();
    expect(lanesIn(claims()[0])).toEqual(["default"]);
    slots.release("mail");
    await settlePromises();
    expect(claims()).toHaveLength(2);
    expect(lanesIn(claims()[1]).toSorted()).toEqual(["default", "mail"]);
    await stop();
  });

  test("claims nothing when there is no slot, and as soon as there is one", async () => {
    const { slots, claims, begin, stop } = setUp({ concurrency: 1 });
    slots.take("default");
    await begin();
    expect(claims()).toHaveLength(0);
    slots.release("default");
    await settlePromises();
    expect(claims()).toHaveLength(1);
    await stop();
  });

  test("does not claim for a slot that becomes free when the last claim left some", async () => {
    const { slots, claims, begin, stop } = setUp();
    slots.take("default");
    await begin();
    slots.release("default");
    await settlePromises();
    expect(claims()).toHaveLength(1);
    await stop();
  });

  test("looks again when the earliest of several moments comes, and plans the next from what it finds", async () => {
    const { lookout, clock, answer, claims, looks, begin, stop } = setUp();
    await begin();
    expect([looks(), claims().length]).toEqual([1, 1]);
    for (const ms of [900, 300, 600]) lookout.lookAfter(ms);
    answer(statements.lookAhead, () => [{ lane: "default", priority: 5, due_in_ms: "299.5" }]);
    await clock.advanceSlowly(299);
    expect(looks()).toBe(1);
    await clock.advanceSlowly(5);
    expect([looks(), claims().length]).toEqual([2, 2]);
    answer(statements.lookAhead, () => noKinds);
    await clock.advanceSlowly(305);
    expect([looks(), claims().length]).toEqual([3, 3]);
    await clock.advanceSlowly(10_000);
    expect(looks()).toBe(3);
    await stop();
  });

  test("does not wait for a moment in a lane that it does not serve", async () => {
    const { clock, answer, looks, begin, stop } = setUp();
    answer(statements.lookAhead, () => [{ lane: "default", priority: 5, due_in_ms: null }]);
    await begin();
    await clock.advanceSlowly(10_000);
    expect(looks()).toBe(1);
    await stop();
  });

  test("polls when nothing rings", async () => {
    const { clock, claims, looks, begin, stop } = setUp();
    await begin();
    await clock.advanceSlowly(pollIntervalMs * 1.2);
    expect(claims()).toHaveLength(2);
    await clock.advanceSlowly(pollIntervalMs * 1.2);
    expect(claims()).toHaveLength(3);
    expect(looks()).toBeGreaterThanOrEqual(2);
    await stop();
  });

  test("claims from what it knows when a look fails, and from what is found when it is made again", async () => {
    const { fetcher, clock, errors, answer, claims, looks, stop } = setUp();
    let failures = 2;
    answer(statements.lookAhead, () => {
      if (failures-- > 0) throw sqlError("57P01");
      return [{ lane: "found", priority: 1, due_in_ms: null }];
    });
    await expect(fetcher.claimNow()).rejects.toMatchObject({ code: "57P01" });
    expect(claims()).toHaveLength(0);
    await clock.advanceSlowly(510);
    // The second look failed like the first, and nobody but the log waits for it.
    expect([looks(), errors.length]).toEqual([2, 1]);
    expect(claims().map(lanesIn)).toEqual([["default"]]);
    await clock.advanceSlowly(510);
    expect([looks(), errors.length]).toEqual([3, 1]);
    expect(lanesIn(claims().at(-1))).toEqual(["found", "default"]);
    await stop();
  });

  test("gives back what a claim took whose answer was lost, before it claims again", async () => {
    const { fetcher, clock, claimed, answerClaims, claims, releases, begin, stop } = setUp();
    answerClaims(() => [aRow("7")]);
    await begin();
    answerClaims(() => {
      throw sqlError("57P01");
    });
    fetcher.wake();
    await settlePromises();
    answerClaims(() => []);
    await clock.advanceSlowly(1_000);
    expect(claimed.map(({ id }) => id)).toEqual(["7"]);
    expect(releases()).toHaveLength(1);
    expect(releases()[0]).toContain("{7}");
    expect(claims()).toHaveLength(3);
    await stop();
  });

  test("leaves no timer behind when it stops, not even for what is put back later", async () => {
    const { lookout, clock, answer, begin, stop } = setUp();
    answer(statements.lookAhead, () => [{ lane: "default", priority: 5, due_in_ms: "5000" }]);
    await begin();
    expect(clock.pending).toBeGreaterThan(0);
    await stop();
    lookout.lookAfter(1_000);
    expect(clock.pending).toBe(0);
    await stop();
  });

  test("takes over what a claim brings that was under way when it stopped", async () => {
    const { fetcher, claimed, holdClaims, begin, stop } = setUp();
    const held = holdClaims();
    await begin();
    const stopped = stop();
    expect(fetcher.isStopping).toBe(true);
    await held.give([aRow("1"), aRow("2")]);
    await stopped;
    expect(claimed.map(({ id }) => id)).toEqual(["1", "2"]);
  });

  test("begins what a claim brings by priority, due time and id", async () => {
    const { claimed, answerClaims, begin, stop } = setUp();
    const unordered = [
      { ...aRow("10"), priority: 5, run_at: "200" },
      { ...aRow("9"), priority: 5, run_at: "200" },
      { ...aRow("8"), priority: 5, run_at: "1000" },
      { ...aRow("7"), priority: 9, run_at: "1" },
      { ...aRow("6"), priority: 0, run_at: "9999" },
    ];
    answerClaims(() => (claimed.length === 0 ? unordered : []));
    await begin();
    expect(claimed.map(({ id }) => id)).toEqual(["6", "9", "10", "8", "7"]);
    await stop();
  });
});
