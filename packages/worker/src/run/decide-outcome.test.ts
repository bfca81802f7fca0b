import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PermanentError, RetryAfterError } from "@queue/core";
import { decideOutcome } from "./decide-outcome.js";

const backoff = { baseMs: 2_000, capMs: 300_000 };
const limits = { attempt: 1, maxAttempts: 8, backoff };

describe("decideOutcome", () => {
  test("retries below the ceiling of the attempt: 2, 4, 8 … seconds, and never above the cap", () => {
    const ceilings = [1, 2, 3, 4, 5, 6, 7, 9, 64, 1_100].map((attempt) => {
      const outcome = decideOutcome(new Error("x"), { ...limits, attempt, maxAttempts: 2_000 }, () => 1);
      return outcome.type === "retry" ? outcome.delayMs / 1_000 : outcome.type;
    });
    expect(ceilings).toEqual([2, 4, 8, 16, 32, 64, 128, 300, 300, 300]);
    expect(decideOutcome(new Error("x"), limits, () => 0)).toMatchObject({ type: "retry", delayMs: 0 });
    expect(decideOutcome(new Error("x"), limits, () => 0.25)).toMatchObject({ type: "retry", delayMs: 500 });
  });

  test("never names a delay that is negative, endless or above the cap", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2 ** 31 - 1 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (attempt, random) => {
          const outcome = decideOutcome(0, { ...limits, attempt, maxAttempts: 2 ** 31 }, () => random);
          expect(outcome.type).toBe("retry");
          if (outcome.type === "retry") expect(outcome.delayMs >= 0 && outcome.delayMs <= backoff.capMs).toBe(true);
        },
      ),
    );
  });

  test("gives the last attempt up, and those that came after it", () => {
    for (const attempt of [8, 9])
      expect(decideOutcome(new Error("x"), { ...limits, attempt })).toMatchObject({ type: "dead", error: { message: "x" } });
    expect(decideOutcome(new Error("x"), { ...limits, attempt: 7 }).type).toBe("retry");
    expect(decideOutcome(new Error("x"), { ...limits, maxAttempts: 1 }).type).toBe("dead");
  });

  test("gives up at once what is permanent", () => {
    expect(decideOutcome(new PermanentError("gone"), limits)).toMatchObject({
      type: "dead",
      error: { name: "PermanentError", message: "gone" },
    });
    expect(decideOutcome({ name: "PermanentError", message: "cloned" }, limits).type).toBe("dead");
  });

  test("takes the time that the handler named, while an attempt is left", () => {
    expect(decideOutcome(new RetryAfterError("1m"), limits)).toMatchObject({ type: "retry", delayMs: 60_000 });
    expect(decideOutcome(new RetryAfterError("1m"), { ...limits, attempt: 8 }).type).toBe("dead");
  });

  test("keeps what was thrown as it is", () => {
    const thrown = { any: "thing" };
    const outcome = decideOutcome(thrown, limits);
    expect(outcome.type === "retry" && outcome.thrown).toBe(thrown);
  });
});
