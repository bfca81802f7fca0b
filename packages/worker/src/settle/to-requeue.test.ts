import { describe, expect, test } from "vitest";
import { anAttempt } from "../../test/support/an-attempt.js";
import type { Outcome } from "../run/decide-outcome.js";
import { toRequeue } from "./to-requeue.js";

const error = { name: "Error", message: "m" };
const retry: Outcome = { type: "retry", delayMs: 5, thrown: 0, error };

describe("toRequeue", () => {
  test("keeps the attempt of a failure, and names its error", () => {
    expect(toRequeue(anAttempt({ claims: 7 }), retry)).toEqual({
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

  test.each([true, false])("lets a job that is given back keep its place, its attempt spent: %s", (isAttemptSpent) => {
    expect(toRequeue(anAttempt(), { type: "released", isAttemptSpent }).delayMs).toBeUndefined();
  });

  test("gives the attempt back that was never started, and the last one even when it was", () => {
    const released = (isAttemptSpent: boolean, attempt: number) =>
      toRequeue(anAttempt({ attempt, maxAttempts: 3 }), { type: "released", isAttemptSpent }).attemptsBack;
    expect([released(false, 1), released(true, 1), released(true, 2), released(true, 3)]).toEqual([1, 0, 0, 1]);
  });
});
