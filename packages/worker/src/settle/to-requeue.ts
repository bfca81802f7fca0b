import type { Requeue } from "@queue/core/internal";
import type { Outcome } from "../run/decide-outcome.js";
import type { RunningAttempt } from "../run/running-attempt.js";

/** How an outcome other than done is written. */
export function toRequeue({ fence, attempt, maxAttempts }: RunningAttempt, outcome: Outcome): Requeue {
  switch (outcome.type) {
    case "retry":
      return { fence, status: "queued", delayMs: outcome.delayMs, attemptsBack: 0, error: outcome.error };
    case "dead":
      return { fence, status: outcome.isExhausted === true ? "exhausted" : "dead", delayMs: 0, attemptsBack: 0, error: outcome.error };
    case "snoozed":
      return { fence, status: "queued", delayMs: outcome.delayMs, attemptsBack: 1 };
    case "released":
      // The last attempt is given back even when it was begun: a deploy is no reason for a job to die.
      return {
        fence,
        status: "queued",
        delayMs: undefined,
        attemptsBack: outcome.isAttemptSpent && attempt < maxAttempts ? 0 : 1,
      };
    case "done":
      throw new TypeError("A job that is done is not put back.");
  }
}
