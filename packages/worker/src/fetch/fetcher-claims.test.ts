import { describe, expect, test } from "vitest";
import { aRow, groupsIn, lanesIn } from "../../test/support/claim-rows.js";
import { settlePromises } from "../../test/support/fake-clock.js";
import { sqlError, statements } from "../../test/support/fake-database.js";
import { heldAnswers } from "../../test/support/held-answers.js";
import { rows, setUpFetcher, takesIn } from "../../test/support/set-up-fetcher.js";

/**
 * Ten slots, and plenty to do: the last claim brought all that it asked for, the `first` jobs, and now two claims of half of that are
 * under way.
 */
async function setUpPlenty({ first = 10, ...setting }: Parameters<typeof setUpFetcher>[0] & { readonly first?: number } = {}) {
  const setting10 = setUpFetcher({ concurrency: 10, ...setting });
  setting10.answerClaims(() => rows(first));
  await setting10.begin();
  const held = setting10.holdClaims();
  await setting10.release("default", first);
  return { ...setting10, held };
}

describe("two claims", () => {
  test("share the slots where there is plenty", async () => {
    const { held, claims, claimed, stop } = await setUpPlenty();
    expect(claims().map(takesIn)).toEqual([[10], [5], [5]]);
    await held.give(rows(5, 11));
    // The other half is spoken for.
    expect(claims()).toHaveLength(3);
    await held.give(rows(5, 16));
    expect(claimed).toHaveLength(20);
    await stop();
  });

  test("are not sent where there is none: one claim for all slots, and the next when it has come back", async () => {
    const { fetcher, holdClaims, claims, begin, wake, stop } = setUpFetcher({ concurrency: 10 });
    const held = holdClaims();
    await begin();
    await wake();
    expect(claims()).toHaveLength(1);
    await held.give(rows(3));
    expect(claims().map(takesIn)).toEqual([[10], [7]]);
    fetcher.wake();
    await held.give([]);
    await held.give([]);
    await stop();
  });

  test("are sent at once when something is told of while one is under way that left slots", async () => {
    const { holdClaims, claims, begin, wake, stop } = setUpFetcher({ concurrency: 700 });
    const held = holdClaims();
    await begin();
    expect(claims().map(takesIn)).toEqual([[500]]);
    await wake();
    expect(claims().map(takesIn)).toEqual([[500], [200]]);
    while (held.awaited > 0) await held.give([]);
    await stop();
  });

  test("go on when a short answer comes after a full one that was sent later", async () => {
    const { held, claims, stop } = await setUpPlenty();
    await held.give(rows(5, 16), 1);
    await held.give(rows(2, 11));
    expect(claims().map(takesIn)).toEqual([[10], [5], [5], [3]]);
    await held.give([]);
    expect(claims()).toHaveLength(4);
    await stop();
  });

  test("end when the one that was sent last comes back short", async () => {
    const { held, claims, release, stop } = await setUpPlenty();
    await held.give(rows(5, 11));
    await held.give(rows(2, 16));
    expect(claims()).toHaveLength(3);
    await release();
    expect(claims()).toHaveLength(3);
    await stop();
  });

  test("never take more of a lane than its ceiling, together", async () => {
    const { lines, held, claims, release, claimedIds, stop } = await setUpPlenty({ ceilings: new Map([["mail", 4]]) });
    await held.give(rows(5, 11));
    await held.give(rows(5, 16));
    lines.add({ lane: "mail", priority: 1 });
    await release("default", 10);
    expect(claims().slice(3).map(groupsIn)).toMatchObject([
      [
        { take: 4, lines: [{ lane: "mail" }] },
        { take: 5, lines: [{ lane: "default" }] },
      ],
      [{ take: 5, lines: [{ lane: "default" }] }],
    ]);
    await held.give(["31", "32", "33"].map((id) => aRow(id, { lane: "mail", priority: 1 })));
    await held.give([]);
    // What the first one did not take is free for the next.
    const next = claims().slice(5).map(groupsIn);
    expect(next[0]?.map(({ take, lines: [line] }) => [line?.lane, take])).toContainEqual(["mail", 1]);
    expect(claimedIds().slice(-3)).toEqual(["31", "32", "33"]);
    while (held.awaited > 0) await held.give([]);
    await stop();
  });
});

describe("jobs that may wait for a slot", () => {
  test("are claimed besides those that begin at once, and by two claims that share the room where there is plenty", async () => {
    const { held, claims, claimed, stop } = await setUpPlenty({ ahead: 50, first: 60 });
    expect(claims().map(takesIn)).toEqual([[60], [30], [30]]);
    await held.give(rows(30, 61));
    expect(claims()).toHaveLength(3);
    await held.give([]);
    expect(claimed).toHaveLength(90);
    await stop();
  });

  test("are not fetched one by one: where no slot is free, half of the room has to be", async () => {
    const { held, claims, release, stop } = await setUpPlenty({ ahead: 50, first: 60 });
    await held.give(rows(30, 61));
    await release("default", 24);
    expect(claims()).toHaveLength(3);
    await release();
    expect(claims().slice(3).map(takesIn)).toEqual([[25]]);
    while (held.awaited > 0) await held.give([]);
    await stop();
  });

  test("are of a lane that has a ceiling, up to that", async () => {
    const { lines, held, claims, release, stop } = await setUpPlenty({ ahead: 50, first: 60, ceilings: new Map([["mail", 4]]) });
    await held.give(rows(30, 61));
    lines.add({ lane: "mail", priority: 1 });
    await release("default", 25);
    expect(groupsIn(claims()[3])).toMatchObject([{ take: 4, lines: [{ lane: "mail" }] }, { take: 25 }]);
    while (held.awaited > 0) await held.give([]);
    await stop();
  });
});

describe("a claim whose answer is lost", () => {
  test.each([
    ["short", 2],
    ["full", 5],
  ])("is made good when no other is under way any more, and soon, when the other comes back %s", async (_how, count) => {
    const { held, clock, claims, releases, stop } = await setUpPlenty();
    await held.fail(sqlError("57P01"));
    await clock.advanceSlowly(2_000);
    expect([releases().length, claims().length]).toEqual([0, 3]);
    await held.give(rows(count, 16));
    await clock.advanceSlowly(2_000);
    expect(releases()).toHaveLength(1);
    // What the other one took is known.
    expect(releases()[0]).toContain(`{${[...rows(10), ...rows(count, 16)].map(({ id }) => id).join(",")}}`);
    expect(claims().length).toBeGreaterThan(3);
    while (held.awaited > 0) await held.give([]);
    await stop();
  });

  test("keeps others from being sent until what it took was given back", async () => {
    const { held, clock, answer, claims, stop, wake } = await setUpPlenty();
    const releasing = heldAnswers<{ id: string }>();
    answer(statements.releaseUnknownJobs, releasing.answer);
    await held.give([]);
    await held.fail(sqlError("57P01"));
    const before = claims().length;
    await clock.advanceSlowly(2_000);
    await wake();
    expect([releasing.awaited, claims().length]).toEqual([1, before]);
    await releasing.give([{ id: "77" }]);
    expect(claims()).toHaveLength(before + 1);
    await held.give([]);
    await stop();
  });

  test("is made good once the database is back, when that fails too", async () => {
    const { fetcher, clock, answer, answerClaims, claims, errors, releases, begin, stop } = setUpFetcher();
    answerClaims(() => {
      throw sqlError("57P01");
    });
    answer(statements.releaseUnknownJobs, () => Promise.reject(sqlError("57P01")));
    await begin();
    await clock.advanceSlowly(20_000);
    expect(claims()).toHaveLength(1);
    expect(releases().length).toBeGreaterThan(1);
    expect(errors).toHaveLength(releases().length + 1);
    answer(statements.releaseUnknownJobs, () => []);
    answerClaims(() => [aRow("1")]);
    await clock.advanceSlowly(30_000);
    expect(claims()).toHaveLength(2);
    expect(fetcher.isStopping).toBe(false);
    await stop();
  });

  test("is made good again when it is carried out after all, later than anybody waited", async () => {
    const { clock, holdClaims, claimedIds, claims, releases, begin, stop } = setUpFetcher({ patienceMs: 1_000 });
    const held = holdClaims();
    await begin();
    await clock.advanceSlowly(1_000);
    await clock.advanceSlowly(clock.nextInMs ?? 0);
    expect([releases().length, claims().length]).toEqual([1, 2]);
    // The first, which was given up, comes now.
    await held.give(rows(3));
    expect(claimedIds()).toEqual([]);
    await held.give(rows(2, 21));
    expect(releases()).toHaveLength(2);
    expect(releases()[1]).toContain("{21,22}");
    await clock.advanceSlowly(100);
    expect(claims().length).toBeGreaterThanOrEqual(3);
    while (held.awaited > 0) await held.give([]);
    await stop();
  });

  test("lets the next one begin everywhere at the beginning: what it had locked, others have passed over", async () => {
    const { clock, answerClaims, claims, begin, wake, stop } = setUpFetcher();
    await begin();
    await wake();
    expect(groupsIn(claims()[1])[0]?.lines[0]?.since).not.toBeNull();
    answerClaims(() => {
      throw sqlError("57P01");
    });
    await wake();
    answerClaims(() => []);
    await clock.advanceSlowly(2_000);
    expect(groupsIn(claims()[3])[0]?.lines[0]?.since).toBeNull();
    await stop();
  });

  test("is followed by a pause, which nothing shortens, and that grows", async () => {
    const { clock, answerClaims, claims, begin, wake, stop } = setUpFetcher();
    answerClaims(() => {
      throw sqlError("57P01");
    });
    await begin();
    for (let n = 0; n < 5; n++) await wake();
    expect(claims()).toHaveLength(1);
    const at: number[] = [];
    for (let ms = 0; ms < 20_000; ms += 10) {
      const before = claims().length;
      await clock.advanceSlowly(10);
      if (claims().length > before) at.push(clock.now());
    }
    expect(at.length).toBeGreaterThanOrEqual(3);
    expect(at.length).toBeLessThan(20);
    await stop();
  });
});

describe("Fetcher.claimNow", () => {
  test("resolves when all that is due has been claimed, by as many claims as it takes", async () => {
    const { fetcher, holdClaims, claims, claimed, stop } = setUpFetcher({ concurrency: 1_100 });
    const held = holdClaims();
    let isDone = false;
    const done = fetcher.claimNow().then(() => (isDone = true));
    await settlePromises();
    await held.give(rows(500));
    expect([isDone, claims().length]).toEqual([false, 3]);
    await held.give(rows(10, 501));
    expect(isDone).toBe(false);
    await held.give([]);
    await done;
    expect(claimed).toHaveLength(510);
    await stop();
  });

  test("resolves when there is no slot for more", async () => {
    const { fetcher, answerClaims, claims, stop } = setUpFetcher({ concurrency: 3 });
    answerClaims(() => rows(3));
    await fetcher.claimNow();
    expect(claims()).toHaveLength(1);
    await fetcher.claimNow();
    expect(claims()).toHaveLength(1);
    await stop();
  });

  test("looks first where there are jobs", async () => {
    const { fetcher, answer, claims, stop } = setUpFetcher();
    answer(statements.lookAhead, () => [{ lane: "found", priority: 1, due_in_ms: null }]);
    await fetcher.claimNow();
    expect(claims().map(lanesIn)).toEqual([["found", "default"]]);
    await stop();
  });

  test("rejects when a claim fails, and the next one is made after the pause", async () => {
    const { fetcher, clock, answerClaims, claimedIds, stop } = setUpFetcher();
    answerClaims(() => {
      throw sqlError("57P01");
    });
    await expect(fetcher.claimNow()).rejects.toMatchObject({ code: "57P01" });
    answerClaims(() => (claimedIds().length === 0 ? rows(1) : []));
    const done = fetcher.claimNow();
    await clock.advanceSlowly(2_000);
    await done;
    expect(claimedIds()).toEqual(["1"]);
    await stop();
  });

  test("resolves when the fetcher stops, also while it looks where there are jobs", async () => {
    const { fetcher, lookout, answer, claims } = setUpFetcher();
    const held = heldAnswers<never>();
    answer(statements.lookAhead, held.answer);
    let isDone = false;
    void fetcher.claimNow().finally(() => (isDone = true));
    await settlePromises();
    await fetcher.stop();
    await held.give([]);
    await lookout.stop();
    expect([isDone, claims().length]).toEqual([true, 0]);
  });
});

describe("Fetcher.stop", () => {
  test("waits for all claims under way, takes over what they bring, and sends no more", async () => {
    const { fetcher, held, claims, claimedIds, wake } = await setUpPlenty();
    let isStopped = false;
    const stopped = fetcher.stop().then(() => (isStopped = true));
    await wake();
    await held.give(rows(5, 11));
    expect([isStopped, claims().length]).toEqual([false, 3]);
    await held.give(rows(5, 16));
    await stopped;
    await wake();
    expect([claimedIds().length, claims().length]).toEqual([20, 3]);
    await fetcher.stop();
  });

  test("gives back what a claim took whose answer is lost meanwhile, or before", async () => {
    for (const isBefore of [true, false]) {
      const { fetcher, clock, holdClaims, releases, begin } = setUpFetcher();
      const held = holdClaims();
      await begin();
      if (isBefore) await held.fail(sqlError("57P01"));
      const stopped = fetcher.stop();
      if (!isBefore) await held.fail(sqlError("57P01"));
      await stopped;
      expect(releases()).toHaveLength(1);
      expect(clock.pending).toBe(0);
    }
  });

  test("gives back what a claim took that is carried out after the stop", async () => {
    const { fetcher, clock, holdClaims, claimedIds, releases, begin } = setUpFetcher({ patienceMs: 1_000 });
    const held = holdClaims();
    await begin();
    await clock.advanceSlowly(1_000);
    await fetcher.stop();
    const before = releases().length;
    await held.give(rows(2));
    expect(claimedIds()).toEqual([]);
    expect(releases()).toHaveLength(before + 1);
  });

  test("ends when the database does not answer the release either", async () => {
    const { fetcher, holdClaims, answer, errors, begin } = setUpFetcher();
    answer(statements.releaseUnknownJobs, () => Promise.reject(sqlError("57P01")));
    const held = holdClaims();
    await begin();
    await held.fail(sqlError("57P01"));
    await fetcher.stop();
    expect(errors).toHaveLength(2);
  });
});

describe("a database that is slow to record outcomes", () => {
  test("is not asked for more, until there is room again", async () => {
    const { fetcher, setBacklog, claims, begin, stop } = setUpFetcher({ concurrency: 10 });
    setBacklog(101);
    await begin();
    expect(claims()).toHaveLength(0);
    setBacklog(100);
    fetcher.onRoom();
    await settlePromises();
    expect(claims()).toHaveLength(1);
    await stop();
  });
});

describe("a pool that gives no transaction", () => {
  test("is asked for no more for half a second, and then at once, without a poll", async () => {
    const { fetcher, clock, claims, begin, stop } = setUpFetcher({ transactions: 5 });
    await begin();
    const before = claims().length;
    fetcher.noTransaction();
    fetcher.wake();
    await clock.advanceSlowly(499);
    expect(claims()).toHaveLength(before);
    await clock.advanceSlowly(1);
    expect(claims()).toHaveLength(before + 1);
    await stop();
  });

  test("keeps no timer when the worker stops", async () => {
    const { fetcher, clock, begin } = setUpFetcher({ transactions: 5 });
    await begin();
    fetcher.noTransaction();
    await fetcher.stop();
    expect(clock.pending).toBe(0);
  });
});

test("says what time it is for the database, and when the claim was sent that it says so in answer to", async () => {
  const { clock, looked, holdClaims, begin, stop } = setUpFetcher();
  const held = holdClaims();
  await clock.advanceSlowly(70);
  await begin();
  await clock.advanceSlowly(30);
  await held.give([]);
  expect(looked).toEqual([[1_000_000, 70]]);
  await stop();
});
