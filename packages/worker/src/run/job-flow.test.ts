import { describe, expect, test } from "vitest";
import { createQueue, job } from "@queue/core";
import { queueError, resolveKinds } from "@queue/core/internal";
import { aRow } from "../../test/support/claim-rows.js";
import { fakeClock, settlePromises } from "../../test/support/fake-clock.js";
import type { AttemptResult } from "./attempt-runner.js";
import { JobFlow } from "./job-flow.js";
import { loseAttempt, type RunningAttempt, RunningAttempts } from "./running-attempt.js";
import { Slots } from "./slots.js";

/** A flow with one slot, whose handlers end when the test says so; one whose job is lost is not begun by its runner. */
function setUp() {
  const clock = fakeClock();
  const attempts = new RunningAttempts();
  const slots = new Slots(1, new Map(), () => {});
  const told: string[] = [];
  const settled: string[] = [];
  const givenBack: [id: string, isForOthers: boolean][] = [];
  const ends: (() => void)[] = [];
  const tell = (what: string) => (attempt: RunningAttempt) => void told.push(`${what} ${attempt.id}`);
  const reporter = { started: tell("started"), recorded: tell("recorded"), refused: tell("refused") };
  const flow: JobFlow = new JobFlow({
    kinds: resolveKinds(createQueue({ jobs: { a: job() } }).jobs),
    concurrency: 1,
    leaseMs: 30_000,
    clock,
    attempts,
    slots,
    reporter,
    async run(attempt): Promise<AttemptResult> {
      if (attempt.isLost) return { type: "lost" };
      await new Promise<void>((resolve) => ends.push(resolve));
      return { type: "unsettled", outcome: { type: "done" } };
    },
    settle: (attempt, outcome) => {
      settled.push(`${outcome.type} ${attempt.id}`);
      if (outcome.type === "released") flow.settled(attempt, outcome, true);
    },
    isStopping: () => false,
    onUnbegun: tell("unbegun"),
    onSlotFree: () => {},
    onWaitedTooLong: () => {},
    onEnded: () => {},
    onGivenBack: ({ id }, isForOthers) => void givenBack.push([id, isForOthers]),
  });
  return {
    flow,
    slots,
    clock,
    attempts,
    givenBack,
    told,
    settled,
    async endOne() {
      ends.shift()?.();
      await settlePromises();
    },
  };
}

describe("a job that is cancelled while it waits for a slot", () => {
  test("does not begin, is not said to have begun, and leaves the slot to the next", async () => {
    const { flow, slots, attempts, told, settled, endOne } = setUp();
    for (const id of ["1", "2", "3"]) flow.begin(aRow(id), 0);
    const second = attempts.get("2");
    if (second === undefined) throw new Error("It was begun two lines above.");
    loseAttempt(second, queueError("JOB_CANCELLED", "Cancelled.", { jobId: "2" }));
    await endOne();
    expect(told).toEqual(["started 1", "unbegun 2", "refused 2", "started 3"]);
    await endOne();
    expect(settled).toEqual(["done 1", "done 3"]);
    expect(slots.free).toBe(1);
  });
});

describe("jobs that are given back unbegun", () => {
  test("are for others when they have waited too long for a slot, and for nobody in particular at a stop", async () => {
    const { flow, clock, givenBack, endOne } = setUp();
    for (const id of ["1", "2", "3"]) flow.begin(aRow(id), 0);
    await clock.advanceSlowly(200);
    expect(givenBack).toEqual([
      ["2", true],
      ["3", true],
    ]);
    flow.begin(aRow("4"), 0);
    flow.giveBackWaiting();
    expect(givenBack.slice(2)).toEqual([["4", false]]);
    await endOne();
  });
});
