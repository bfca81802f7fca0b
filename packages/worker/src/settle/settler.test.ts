import { describe, expect, test } from "vitest";
import { anAttempt } from "../../test/support/an-attempt.js";
import { fakeClock, settlePromises } from "../../test/support/fake-clock.js";
import { fakeDatabase, idsIn, sqlError, statements } from "../../test/support/fake-database.js";
import type { Outcome } from "../run/decide-outcome.js";
import { Settler, toRequeue } from "./settler.js";

const done: Outcome = { type: "done" };
const error = { name: "Error", message: "m" };

function setUp() {
  const { database, answer, sentOf } = fakeDatabase();
  const clock = fakeClock();
  const settled: { id: string; type: Outcome["type"]; isRecorded: boolean }[] = [];
  const errors: unknown[] = [];
  let onSettled = () => {};
  answer(statements.completeJobs, (parameters) => idsIn(parameters).map((id) => ({ id })));
  answer(statements.requeueJobs, ([jobs]) => Object.keys(JSON.parse(String(jobs)) as object).map((id) => ({ id })));
  const settler = new Settler({
    database,
    statements,
    worker: "w",
    clock,
    onSettled: (attempt, { type }, isRecorded) => {
      settled.push({ id: attempt.id, type, isRecorded });
      onSettled();
    },
    onError: (failure) => errors.push(failure),
  });
  return {
    settler,
    clock,
    settled,
    errors,
    answer,
    completions: () => sentOf(statements.completeJobs),
    afterSettled: (callback: () => void) => (onSettled = callback),
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

  test("gathers the next batch while one is on its way", async () => {
    const { settler, answer, completions } = setUp();
    const answers: (() => void)[] = [];
    answer(
      statements.completeJobs,
      (parameters) => new Promise((resolve) => answers.push(() => resolve(idsIn(parameters).map((id) => ({ id }))))),
    );
    settler.settle(anAttempt({ id: "1" }), done);
    await settlePromises();
    for (const id of ["2", "3", "4"]) settler.settle(anAttempt({ id }), done);
    expect(settler.backlog).toBe(4);
    answers.shift()?.();
    await settlePromises();
    answers.shift()?.();
    await settler.drain();
    expect(completions().map(idsIn)).toEqual([["1"], ["2", "3", "4"]]);
    expect(settler.backlog).toBe(0);
  });

  test.each(Array.from({ length: 16 }, (_, turns) => turns))(
    "forgets nothing that is handed over while a batch ends, %i microtasks later",
    async (turns) => {
      const { settler, settled, afterSettled } = setUp();
      let second = Promise.resolve();
      afterSettled(() => {
        afterSettled(() => {});
        for (let turn = 0; turn < turns; turn++) second = second.then(() => {});
        second = second.then(() => settler.settle(anAttempt({ id: "2" }), done));
      });
      settler.settle(anAttempt({ id: "1" }), done);
      await settlePromises();
      expect(settled.map(({ id }) => id)).toEqual(["1", "2"]);
    },
  );

  test("says which outcomes the fence refused", async () => {
    const { settler, answer, settled } = setUp();
    answer(statements.completeJobs, () => [{ id: "2" }]);
    settler.settle(anAttempt({ id: "1" }), done);
    settler.settle(anAttempt({ id: "2" }), done);
    await settler.drain();
    expect(settled).toEqual([
      { id: "1", type: "done", isRecorded: false },
      { id: "2", type: "done", isRecorded: true },
    ]);
  });

  test("B45: tries a batch again after a deadlock, a lost connection and a lock timeout", async () => {
    const { settler, clock, answer, settled, errors, completions } = setUp();
    const failures = ["40P01", "57P01", "55P03"];
    answer(statements.completeJobs, (parameters) => {
      const code = failures.shift();
      if (code !== undefined) throw sqlError(code);
      return idsIn(parameters).map((id) => ({ id }));
    });
    for (let id = 1; id <= 50; id++) settler.settle(anAttempt({ id: String(id) }), done);
    for (let tries = 0; tries < 3; tries++) await clock.advanceSlowly(5_000);
    await settler.drain();
    expect(settled.filter(({ isRecorded }) => isRecorded)).toHaveLength(50);
    expect(errors).toMatchObject(["40P01", "57P01", "55P03"].map((sqlState) => ({ code: "DATABASE_ERROR", sqlState, isRetryable: true })));
    expect(completions()).toHaveLength(4);
  });

  test("gives up the one outcome that the database refuses for good, and holds nothing else back", async () => {
    const { settler, clock, answer, settled } = setUp();
    answer(statements.completeJobs, (parameters) => {
      if (idsIn(parameters).includes("2")) throw sqlError("23503");
      return idsIn(parameters).map((id) => ({ id }));
    });
    for (const id of ["1", "2", "3"]) settler.settle(anAttempt({ id }), done);
    await settlePromises();
    expect(settled.map(({ id }) => id)).toEqual(["1", "3"]);
    settler.settle(anAttempt({ id: "4" }), done);
    await clock.advanceSlowly(5_000);
    await settler.drain();
    expect(settled).toEqual([
      { id: "1", type: "done", isRecorded: true },
      { id: "3", type: "done", isRecorded: true },
      { id: "2", type: "done", isRecorded: false },
      { id: "4", type: "done", isRecorded: true },
    ]);
  });

  test("writes nothing for an attempt that is lost", async () => {
    const { settler, settled, completions } = setUp();
    const lost = anAttempt();
    lost.isLost = true;
    settler.settle(lost, done);
    await settler.drain();
    expect(settled).toEqual([{ id: "1", type: "done", isRecorded: false }]);
    expect(completions()).toEqual([]);
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

describe("toRequeue", () => {
  test("keeps the attempt of a failure, and names its error", () => {
    expect(toRequeue(anAttempt({ claims: 7 }), { type: "retry", delayMs: 5, thrown: 0, error })).toEqual({
      fence: 7,
      status: "queued",
      delayMs: 5,
      attemptsBack: 0,
      error,
    });
    expect(toRequeue(anAttempt(), { type: "dead", thrown: 0, error })).toMatchObject({ status: "dead", attemptsBack: 0, error });
  });

  test("gives the attempt of a snooze back", () => {
    expect(toRequeue(anAttempt(), { type: "snoozed", delayMs: 5 })).toEqual({ fence: 1, status: "queued", delayMs: 5, attemptsBack: 1 });
  });

  test("gives the attempt back that was never started, and the last one even when it was", () => {
    const released = (isAttemptSpent: boolean, attempt: number) =>
      toRequeue(anAttempt({ attempt, maxAttempts: 3 }), { type: "released", isAttemptSpent }).attemptsBack;
    expect([released(false, 1), released(true, 1), released(true, 2), released(true, 3)]).toEqual([1, 0, 0, 1]);
  });
});
