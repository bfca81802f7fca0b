import { describe, expect, test } from "vitest";
import { queueError } from "@queue/core/internal";
import { anAttempt } from "../../test/support/an-attempt.js";
import { settlePromises } from "../../test/support/fake-clock.js";
import { abortAttempt, loseAttempt, RunningAttempts } from "./running-attempt.js";

const reasonOf = (jobId: string) => queueError("LEASE_LOST", jobId, { jobId });

describe("abortAttempt", () => {
  test("aborts the signal that the handler has, or will ask for, by the first reason", () => {
    const attempt = anAttempt();
    abortAttempt(attempt, reasonOf("first"));
    abortAttempt(attempt, reasonOf("second"));
    expect(attempt.abortedBy?.message).toBe("first");
    expect(attempt.controller?.signal.reason).toBe(attempt.abortedBy);
    expect(attempt.isLost).toBe(false);
  });

  test("is what losing it does, too, whatever aborted it before", () => {
    const attempt = anAttempt();
    abortAttempt(attempt, reasonOf("first"));
    loseAttempt(attempt, reasonOf("second"));
    expect([attempt.isLost, attempt.abortedBy?.message]).toEqual([true, "first"]);
  });
});

describe("RunningAttempts", () => {
  test("tells when there is none left, and waits for all", async () => {
    const attempts = new RunningAttempts();
    const [a, b] = [anAttempt({ id: "1" }), anAttempt({ id: "2" })];
    await attempts.whenEmpty();
    attempts.add(a);
    attempts.add(b);
    let isEmpty = false;
    void attempts.whenEmpty().then(() => (isEmpty = true));
    attempts.delete(a);
    await settlePromises();
    expect([attempts.size, isEmpty]).toEqual([1, false]);
    attempts.delete(b);
    await settlePromises();
    expect([attempts.size, isEmpty]).toEqual([0, true]);
  });

  test("holds two attempts of one job apart, and finds the later one", () => {
    const attempts = new RunningAttempts();
    const [first, second] = [anAttempt({ attempt: 1 }), anAttempt({ attempt: 2 })];
    attempts.add(first);
    attempts.add(second);
    expect(attempts.get("1")).toBe(second);
    expect(attempts.all()).toEqual([first, second]);
    attempts.delete(first);
    expect(attempts.get("1")).toBe(second);
    attempts.delete(second);
    expect([attempts.get("1"), attempts.size]).toEqual([undefined, 0]);
  });
});
