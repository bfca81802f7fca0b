import type { Duration } from "@queue/core";
import { queueError } from "@queue/core/adapter";
import { parseDuration, runStatement, shiftTimes } from "@queue/core/internal";
import type { Executor } from "@queue/core";

/** The time that the queue of a test goes by: the database's, and what was added to it. */
export interface TestClock {
  /** How far the clock was moved since the test queue was made, in milliseconds. */
  readonly advancedMs: number;
  /**
   * Lets so much time pass, at once: jobs become due, leases and keys end, what is kept in the archive grows old. Nothing is run:
   * call `drain` after it. Zero is allowed; the clock never goes back.
   *
   * The database's own clock cannot be moved, so every time that is stored is moved back instead, in one statement. A `Date` that
   * was computed before, or that you pass as `runAt`, is not moved: use `delay`.
   *
   * @throws QueueError `INVALID_OPTION` for a wrong duration, and while `drain` works
   * @example await clock.advance("3d");
   */
  advance(by: Duration): Promise<void>;
}

export interface MovableClock extends TestClock {
  /** Keeps others from moving the clock while `work` runs. */
  whileStill<T>(work: (advanceBy: (ms: number) => Promise<void>) => Promise<T>): Promise<T>;
}

/** A thousand years: no test waits longer, and timestamps can go back as far. */
const furthestMs = 1_000 * 365 * 86_400_000;

export function createTestClock(executor: Executor, schema: string): MovableClock {
  const statement = shiftTimes(schema);
  let advancedMs = 0;
  let isStill = false;

  async function advanceBy(byMs: number): Promise<void> {
    if (byMs === 0) return;
    await runStatement(executor, statement, { byMs });
    advancedMs += byMs;
  }

  return {
    get advancedMs() {
      return advancedMs;
    },
    async advance(by) {
      const byMs = parseDuration(by, "by", { maxMs: furthestMs });
      if (isStill) {
        throw queueError(
          "INVALID_OPTION",
          "clock.advance was called while drain works: the lease of the job that runs would end. Call it between drains, or give drain an `until`.",
          { option: "by" },
        );
      }
      await advanceBy(byMs);
    },
    async whileStill(work) {
      if (isStill) {
        throw queueError("INVALID_OPTION", "drain was called while another drain works on this queue: wait for it.", { option: "drain" });
      }
      isStill = true;
      try {
        return await work(advanceBy);
      } finally {
        isStill = false;
      }
    },
  };
}
