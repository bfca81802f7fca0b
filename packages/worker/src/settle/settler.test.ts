import { describe, expect, test } from "vitest";
import { anAttempt } from "../../test/support/an-attempt.js";
import { fakeClock, settlePromises } from "../../test/support/fake-clock.js";
import { fakeDatabase, idsIn, sqlError, statements } from "../../test/support/fake-database.js";
import { Exchange } from "../exchange/exchange.js";
import type { Outcome } from "../run/decide-outcome.js";
import { Settler } from "./settler.js";

const done: Outcome = { type: "done" };
const error = { name: "Error", message: "m" };
const retry: Outcome = { type: "retry", delayMs: 5, thrown: 0, error };

function setUp() {
  const { database, answer, sent, sentOf } = fakeDatabase();
  const clock = fakeClock();
  const settled: { id: string; type: Outcome["type"]; isRecorded: boolean }[] = [];
  const errors: unknown[] = [];
  let onSettled = () => {};
  const answerAll = () => {
    answer(statements.completeJobs, (parameters) => idsIn(parameters).map((id) => ({ id })));
    answer(statements.requeueJobs, ([jobs]) => Object.keys(JSON.parse(String(jobs)) as object).map((id) => ({ id })));
  };
  answerAll();
  const settler: Settler = new Settler({
    database,
    statements,
    worker: "w",
    leaseMs: 30_000,
    clock,
    onCompletions: () => exchange.ring(),
    onSettled: (attempt, { type }, isRecorded) => {
      settled.push({ id: attempt.id, type, isRecorded });
      onSettled();
    },
    onError: (failure) => errors.push(failure),
  });
  const exchange = new Exchange({
    database,
    statements,
    worker: "w",
    takeCompletions: () => settler.takeCompletions(),
    takeClaim: () => undefined,
  });
  return {
    settler,
    clock,
    settled,
    errors,
    sent,
    answer,
    answerAll,
    completions: () => sentOf(statements.completeJobs),
    requeues: () => sentOf(statements.requeueJobs).map(([jobs]) => Object.keys(JSON.parse(String(jobs)) as object)),
    extensions: () => sentOf(statements.extendLeases),
    recorded: () => settled.filter(({ isRecorded }) => isRecorded).map(({ id }) => id),
    refused: () => settled.filter(({ isRecorded }) => !isRecorded).map(({ id }) => id),
    afterSettled: (callback: () => void) => (onSettled = callback),
    /** Rows that somebody has locked, and rows that belong to somebody else by now: both are skipped. */
    stand({ locked = [], taken = [] }: { readonly locked?: readonly string[]; readonly taken?: readonly string[] }) {
      const free = (ids: readonly string[]) => ids.filter((id) => !locked.includes(id) && !taken.includes(id)).map((id) => ({ id }));
      answer(statements.completeJobs, (parameters) => free(idsIn(parameters)));
      answer(statements.requeueJobs, ([jobs]) => free(Object.keys(JSON.parse(String(jobs)) as object)));
      answer(statements.extendLeases, (parameters) =>
        idsIn(parameters).map((id) => ({ id, extended: !locked.includes(id) && !taken.includes(id), held: !taken.includes(id) })),
      );
    },
  };
}

describe("Settler", () => {
  test("writes what is handed over in one turn by one statement, in the order of the ids as numbers", async () => {
    const { settler, completions, settled } = setUp();
    for (const id of ["10", "9", "100"]) settler.settle(anAttempt({ id, claims: Number(id) + 1 }), done);
    await settler.drain();
    expect(completions()).toHaveLength(1);
    expect(completions()[0]).toEqual(expect.arrayContaining(["{9,10,100}", "{10,11,101}", "w"]));
    expect(settled.map(({ id }) => id)).toEqual(["9", "10", "100"]);
  });

  test("writes outcomes other than done by a statement of their own, all of one turn together", async () => {
    const { settler, sent, requeues, recorded } = setUp();
    for (const id of ["1", "2", "3"]) settler.settle(anAttempt({ id }), id === "2" ? done : retry);
    await settler.drain();
    expect(sent).toHaveLength(2);
    expect(requeues()).toEqual([["1", "3"]]);
    expect(recorded().toSorted()).toEqual(["1", "2", "3"]);
  });

  test.each([
    ["completions", done],
    ["others", retry],
  ])("gathers the next batch while as many are on their way as may be: %s", async (what, outcome) => {
    const { settler, answer, completions, requeues } = setUp();
    const answers: (() => void)[] = [];
    const held = (ids: string[]) => new Promise<{ id: string }[]>((resolve) => answers.push(() => resolve(ids.map((id) => ({ id })))));
    answer(statements.completeJobs, (parameters) => held(idsIn(parameters)));
    answer(statements.requeueJobs, ([jobs]) => held(Object.keys(JSON.parse(String(jobs)) as object)));
    const first = what === "completions" ? ["1", "2"] : ["1"];
    for (const id of first) {
      settler.settle(anAttempt({ id }), outcome);
      await settlePromises();
    }
    for (const id of ["3", "4", "5"]) {
      settler.settle(anAttempt({ id }), outcome);
      await settlePromises();
    }
    expect(settler.backlog).toBe(first.length + 3);
    for (let batch = 0; batch <= first.length; batch++) {
      answers.shift()?.();
      await settlePromises();
    }
    await settler.drain();
    const batches = what === "completions" ? completions().map(idsIn) : requeues();
    expect(batches).toEqual([...first.map((id) => [id]), ["3", "4", "5"]]);
    expect(settler.backlog).toBe(0);
  });

  test("writes a thousand by one statement at most", async () => {
    const { settler, completions } = setUp();
    for (let id = 1; id <= 2_500; id++) settler.settle(anAttempt({ id: String(id) }), done);
    await settler.drain();
    expect(
      completions()
        .map((parameters) => idsIn(parameters).length)
        .toSorted((a, b) => a - b),
    ).toEqual([500, 1_000, 1_000]);
  });

  test.each(Array.from({ length: 16 }, (_, turns) => turns))(
    "forgets nothing that is handed over while a batch ends, %i microtasks later",
    async (turns) => {
      for (const outcome of [done, retry]) {
        const { settler, settled, afterSettled } = setUp();
        let second = Promise.resolve();
        afterSettled(() => {
          afterSettled(() => {});
          for (let turn = 0; turn < turns; turn++) second = second.then(() => {});
          second = second.then(() => settler.settle(anAttempt({ id: "2" }), outcome));
        });
        settler.settle(anAttempt({ id: "1" }), outcome);
        await settlePromises();
        expect(settled.map(({ id }) => id)).toEqual(["1", "2"]);
      }
    },
  );

  test("B45: tries a batch again after a deadlock, a lost connection and a lock timeout", async () => {
    const { settler, clock, answer, recorded, errors, completions } = setUp();
    const failures = ["40P01", "57P01", "55P03"];
    answer(statements.completeJobs, (parameters) => {
      const code = failures.shift();
      if (code !== undefined) throw sqlError(code);
      return idsIn(parameters).map((id) => ({ id }));
    });
    for (let id = 1; id <= 50; id++) settler.settle(anAttempt({ id: String(id) }), done);
    for (let tries = 0; tries < 3; tries++) await clock.advanceSlowly(5_000);
    await settler.drain();
    expect(recorded()).toHaveLength(50);
    expect(errors).toMatchObject(["40P01", "57P01", "55P03"].map((sqlState) => ({ code: "DATABASE_ERROR", sqlState, isRetryable: true })));
    expect(completions()).toHaveLength(4);
  });

  test("holds up nothing that comes later while a batch is tried again", async () => {
    const { settler, answer, answerAll, clock, recorded } = setUp();
    answer(statements.completeJobs, () => {
      throw sqlError("40P01");
    });
    settler.settle(anAttempt({ id: "1" }), done);
    await settlePromises();
    answerAll();
    settler.settle(anAttempt({ id: "2" }), done);
    await settlePromises();
    expect(recorded()).toEqual(["2"]);
    await clock.advanceSlowly(5_000);
    expect(recorded()).toEqual(["2", "1"]);
  });

  test.each([
    ["completion", done],
    ["retry", retry],
  ])("gives up the one %s that the database refuses for good, and holds nothing else back", async (_what, outcome) => {
    const { settler, clock, answer, settled } = setUp();
    const write = (ids: readonly string[]) => {
      if (ids.includes("2")) throw sqlError("23503");
      return ids.map((id) => ({ id }));
    };
    answer(statements.completeJobs, (parameters) => write(idsIn(parameters)));
    answer(statements.requeueJobs, ([jobs]) => write(Object.keys(JSON.parse(String(jobs)) as object)));
    for (const id of ["1", "2", "3"]) settler.settle(anAttempt({ id }), outcome);
    await settlePromises();
    expect(settled.map(({ id }) => id)).toEqual(["1", "3"]);
    settler.settle(anAttempt({ id: "4" }), outcome);
    await clock.advanceSlowly(5_000);
    await settler.drain();
    expect(settled.toSorted((a, b) => Number(a.id) - Number(b.id)).map(({ id, isRecorded }) => [id, isRecorded])).toEqual([
      ["1", true],
      ["2", false],
      ["3", true],
      ["4", true],
    ]);
  });

  test("writes nothing for an attempt that is lost", async () => {
    for (const outcome of [done, retry]) {
      const { settler, settled, sent } = setUp();
      const lost = anAttempt();
      lost.isLost = true;
      settler.settle(lost, outcome);
      await settler.drain();
      expect(settled).toEqual([{ id: "1", type: outcome.type, isRecorded: false }]);
      expect(sent).toEqual([]);
    }
  });

  test("writes what comes behind a thousand that are lost", async () => {
    const { settler, recorded, refused } = setUp();
    for (let id = 1; id <= 1_001; id++) {
      const attempt = anAttempt({ id: String(id) });
      attempt.isLost = id <= 1_000;
      settler.settle(attempt, done);
    }
    await settlePromises();
    expect(refused()).toHaveLength(1_000);
    expect(recorded()).toEqual(["1001"]);
  });

  test("stops trying when the lease is lost meanwhile", async () => {
    const { settler, clock, answer, settled, completions } = setUp();
    answer(statements.completeJobs, () => {
      throw sqlError("57P01");
    });
    const attempt = anAttempt();
    settler.settle(attempt, done);
    await clock.advanceSlowly(100);
    attempt.isLost = true;
    await clock.advanceSlowly(10_000);
    await settler.drain();
    expect(settled).toEqual([{ id: "1", type: "done", isRecorded: false }]);
    expect(completions().length).toBeLessThanOrEqual(2);
    expect(clock.pending).toBe(0);
  });
});

describe.each([
  ["a completion", done],
  ["a retry", retry],
])("%s that does not come back", (_what, outcome) => {
  test("is told as refused at once when it does not belong to the claim any more", async () => {
    const { settler, stand, settled, extensions, clock } = setUp();
    stand({ taken: ["1"] });
    for (const id of ["1", "2"]) settler.settle(anAttempt({ id, claims: 4 }), outcome);
    await settlePromises();
    expect(settled).toEqual([
      { id: "2", type: outcome.type, isRecorded: true },
      { id: "1", type: outcome.type, isRecorded: false },
    ]);
    expect(extensions()).toEqual([expect.arrayContaining(["{1}", "{4}", "w"])]);
    expect([settler.backlog, clock.pending]).toEqual([0, 0]);
  });

  test("is skipped when somebody has locked it, and written apart when it is free; the others are recorded at once", async () => {
    const { settler, stand, clock, recorded, extensions } = setUp();
    stand({ locked: ["2"] });
    for (const id of ["1", "2", "3"]) settler.settle(anAttempt({ id }), outcome);
    await settlePromises();
    expect([recorded(), settler.backlog]).toEqual([["1", "3"], 1]);
    // What comes later does not wait for it.
    settler.settle(anAttempt({ id: "4" }), outcome);
    await clock.advanceSlowly(2_000);
    expect([recorded(), settler.backlog]).toEqual([["1", "3", "4"], 1]);
    expect(extensions().every((parameters) => idsIn(parameters).join() === "2")).toBe(true);
    stand({});
    await clock.advanceSlowly(250);
    expect([recorded(), settler.backlog, clock.pending]).toEqual([["1", "3", "4", "2"], 0, 0]);
  });

  test("is tried soon, then more seldom, and four times a second for as long as it is locked", async () => {
    const { settler, stand, clock, extensions } = setUp();
    stand({ locked: ["1"] });
    settler.settle(anAttempt({ id: "1" }), outcome);
    await clock.advanceSlowly(100);
    expect(extensions().length).toBeGreaterThanOrEqual(4);
    await clock.advanceSlowly(1_000);
    const before = extensions().length;
    await clock.advanceSlowly(10_000);
    expect(extensions().length - before).toBe(40);
    settler.abandon();
    await clock.advanceSlowly(250);
  });

  test("is told as refused when somebody took it away while it was locked", async () => {
    const { settler, stand, clock, settled } = setUp();
    stand({ locked: ["1"] });
    settler.settle(anAttempt({ id: "1" }), outcome);
    await clock.advanceSlowly(1_000);
    expect(settled).toEqual([]);
    stand({ taken: ["1"] });
    await clock.advanceSlowly(250);
    expect(settled).toEqual([{ id: "1", type: outcome.type, isRecorded: false }]);
    expect(clock.pending).toBe(0);
  });

  test.each([false, true])("is told as refused when its lease is lost while it is locked (database away: %s)", async (isAway) => {
    const { settler, stand, answer, clock, settled } = setUp();
    stand({ locked: ["1"] });
    const attempt = anAttempt({ id: "1" });
    settler.settle(attempt, outcome);
    await clock.advanceSlowly(1_000);
    if (isAway) answer(statements.extendLeases, () => Promise.reject(sqlError("57P01")));
    attempt.isLost = true;
    await clock.advanceSlowly(5_000);
    expect(settled).toEqual([{ id: "1", type: outcome.type, isRecorded: false }]);
    expect([settler.backlog, clock.pending]).toEqual([0, 0]);
  });

  test("survives errors of the database, and is written after them", async () => {
    const { settler, stand, answer, clock, errors, recorded } = setUp();
    stand({ locked: ["1"] });
    settler.settle(anAttempt({ id: "1" }), outcome);
    await settlePromises();
    answer(statements.extendLeases, () => Promise.reject(sqlError("57P01")));
    await clock.advanceSlowly(1_000);
    expect(errors.length).toBeGreaterThan(0);
    expect(errors[0]).toMatchObject({ code: "DATABASE_ERROR", sqlState: "57P01", isRetryable: true });
    stand({});
    await clock.advanceSlowly(1_000);
    expect([recorded(), clock.pending]).toEqual([["1"], 0]);
  });

  test("is given up when the database refuses it for good once it is free, and holds back no other that was locked", async () => {
    const { settler, stand, answer, clock, settled } = setUp();
    stand({ locked: ["1", "2"] });
    for (const id of ["1", "2"]) settler.settle(anAttempt({ id }), outcome);
    await settlePromises();
    stand({});
    const write = (ids: readonly string[]) => {
      if (ids.includes("1")) throw sqlError("23514");
      return ids.map((id) => ({ id }));
    };
    answer(statements.completeJobs, (parameters) => write(idsIn(parameters)));
    answer(statements.requeueJobs, ([jobs]) => write(Object.keys(JSON.parse(String(jobs)) as object)));
    await clock.advanceSlowly(30_000);
    expect(settled.toSorted((a, b) => Number(a.id) - Number(b.id)).map(({ id, isRecorded }) => [id, isRecorded])).toEqual([
      ["1", false],
      ["2", true],
    ]);
  });

  test("is waited for by a drain, and given up by whoever abandons it", async () => {
    const { settler, stand, clock, settled, sent } = setUp();
    stand({ locked: ["1"] });
    settler.settle(anAttempt({ id: "1" }), outcome);
    let isDrained = false;
    const drained = settler.drain().then(() => (isDrained = true));
    await clock.advanceSlowly(5_000);
    expect(isDrained).toBe(false);
    settler.abandon();
    const before = sent.length;
    await clock.advanceSlowly(1_000);
    await drained;
    expect(settled).toEqual([{ id: "1", type: outcome.type, isRecorded: false }]);
    // The application may have ended its pool.
    expect(sent).toHaveLength(before);
    expect(clock.pending).toBe(0);
  });
});

describe("Settler.abandon", () => {
  test.each([
    ["completions", done],
    ["others", retry],
  ])("sends nothing any more of %s whose writing has failed", async (_what, outcome) => {
    const { settler, answer, clock, sent, settled } = setUp();
    answer(statements.completeJobs, () => Promise.reject(sqlError("57P01")));
    answer(statements.requeueJobs, () => Promise.reject(sqlError("57P01")));
    settler.settle(anAttempt({ id: "1" }), outcome);
    await settlePromises();
    settler.abandon();
    const before = sent.length;
    await clock.advanceSlowly(10_000);
    expect(settled).toEqual([{ id: "1", type: outcome.type, isRecorded: false }]);
    expect([sent.length, clock.pending, settler.backlog]).toEqual([before, 0, 0]);
  });
});
