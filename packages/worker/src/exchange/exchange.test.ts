import { describe, expect, test } from "vitest";
import type { ClaimAnswer, ClaimAnswerRow } from "@queue/core/internal";
import { answerRows, aRow } from "../../test/support/claim-rows.js";
import { fakeClock, settlePromises } from "../../test/support/fake-clock.js";
import { fakeDatabase, idsIn, sqlError, statements } from "../../test/support/fake-database.js";
import { heldAnswers } from "../../test/support/held-answers.js";
import { type ClaimSending, type CompletionsSending, Exchange } from "./exchange.js";

const claimInput = { groups: "[]", kinds: '{"a"}', limit: 3, leaseMs: 30_000 };

interface Told {
  readonly who: string;
  readonly answer?: ClaimAnswer | readonly string[];
  readonly error?: unknown;
}

function setUp({ hasOneConnection = false, patienceMs = 60_000 } = {}) {
  const clock = fakeClock();
  const { database, answer, sent, sentOf } = fakeDatabase({ hasOneConnection, clock, patienceMs });
  const told: Told[] = [];
  const late: string[] = [];
  const completions: CompletionsSending[] = [];
  const claims: ClaimSending[] = [];
  const exchange = new Exchange({
    database,
    statements,
    worker: "w",
    takeCompletions: () => completions.shift(),
    takeClaim: () => claims.shift(),
  });
  answer(statements.completeJobs, (parameters) => idsIn(parameters).map((id) => ({ id })));
  answer(statements.claimJobs, () => answerRows([]));
  answer(statements.completeAndClaim, (parameters) => answerRows([], { completed: idsIn(parameters) }));
  return {
    exchange,
    clock,
    answer,
    sent,
    told,
    late,
    alone: () => sentOf(statements.completeJobs),
    claimsAlone: () => sentOf(statements.claimJobs),
    together: () => sentOf(statements.completeAndClaim),
    complete(...ids: string[]) {
      completions.push({
        input: { ids: `{${ids.join(",")}}`, fences: `{${ids.map(() => 7).join(",")}}`, keeps: `{${ids.map(() => -1).join(",")}}` },
        onAnswer: (completed) => told.push({ who: `complete ${ids.join()}`, answer: completed }),
        onError: (error) => told.push({ who: `complete ${ids.join()}`, error }),
      });
    },
    claim(name = "claim") {
      claims.push({
        input: claimInput,
        onAnswer: (claimed) => told.push({ who: name, answer: claimed }),
        onError: (error) => told.push({ who: name, error }),
        onLate: () => late.push(name),
      });
    },
    async ring() {
      exchange.ring();
      await settlePromises();
    },
  };
}

describe("Exchange", () => {
  test("sends outcomes and a claim in one statement, and tells each its part of the answer", async () => {
    const { complete, claim, ring, answer, sent, together, told } = setUp();
    answer(statements.completeAndClaim, () => answerRows([aRow("9")], { completed: ["1", "2"], paused: ["p"], now: "77" }));
    complete("1", "2");
    claim();
    await ring();
    expect(sent).toHaveLength(1);
    expect(together()[0]).toEqual(expect.arrayContaining(["{1,2}", "{7,7}", "w", '{"a"}']));
    expect(told).toEqual([
      { who: "complete 1,2", answer: ["1", "2"] },
      { who: "claim", answer: expect.objectContaining({ claimed: [expect.objectContaining({ id: "9" })], now: "77", paused: ["p"] }) },
    ]);
  });

  test("sends outcomes alone, and a claim alone, when there is only the one", async () => {
    const { complete, claim, ring, sent, alone, claimsAlone, told } = setUp();
    complete("1");
    await ring();
    expect([sent.length, alone().length]).toEqual([1, 1]);
    claim();
    await ring();
    expect([sent.length, claimsAlone().length]).toEqual([2, 1]);
    expect(told.map(({ who }) => who)).toEqual(["complete 1", "claim"]);
    expect(told[0]?.answer).toEqual(["1"]);
  });

  test("sends nothing when there is nothing", async () => {
    const { ring, sent } = setUp();
    await ring();
    expect(sent).toEqual([]);
  });

  test("sends what comes in one turn together, however often it is rung", async () => {
    const { exchange, complete, claim, ring, sent } = setUp();
    complete("1");
    for (let n = 0; n < 5; n++) exchange.ring();
    claim();
    expect(sent).toEqual([]);
    await ring();
    expect(sent).toHaveLength(1);
  });

  test("has two statements on their way at most, and sends the next when one is answered", async () => {
    const { complete, claim, ring, answer, sent, told } = setUp();
    const held = heldAnswers<{ id: string }>();
    const heldTogether = heldAnswers<ClaimAnswerRow>();
    answer(statements.completeJobs, held.answer);
    answer(statements.completeAndClaim, heldTogether.answer);
    for (const id of ["1", "2", "3", "4"]) complete(id);
    await ring();
    expect(sent).toHaveLength(2);
    claim();
    await ring();
    expect(sent).toHaveLength(2);
    // The second is answered first; what is sent next takes the claim with it.
    await held.give([{ id: "2" }], 1);
    expect([sent.length, heldTogether.awaited]).toEqual([3, 1]);
    await held.give([{ id: "1" }]);
    expect(sent).toHaveLength(4);
    await heldTogether.give(answerRows([], { completed: ["3"] }));
    await held.give([{ id: "4" }]);
    expect(told.map(({ who }) => who)).toEqual(["complete 2", "complete 1", "complete 3", "claim", "complete 4"]);
  });

  test("has one statement on its way at most where everything has one connection", async () => {
    const { complete, ring, answer, sent, alone } = setUp({ hasOneConnection: true });
    const held = heldAnswers<{ id: string }>();
    answer(statements.completeJobs, held.answer);
    for (const id of ["1", "2"]) complete(id);
    await ring();
    expect(sent).toHaveLength(1);
    await held.give([{ id: "1" }]);
    expect(alone().map(idsIn)).toEqual([["1"], ["2"]]);
    await held.give([{ id: "2" }]);
  });

  test("tells an error to both, and goes on", async () => {
    const { complete, claim, ring, answer, sent, told } = setUp();
    const error = sqlError("57P01");
    answer(statements.completeAndClaim, () => {
      throw error;
    });
    complete("1");
    claim();
    await ring();
    expect(told).toEqual([
      { who: "complete 1", error },
      { who: "claim", error },
    ]);
    complete("2");
    await ring();
    expect(sent).toHaveLength(2);
    expect(told.at(-1)).toEqual({ who: "complete 2", answer: ["2"] });
  });

  test("tells an error of the one that was sent alone to nobody else", async () => {
    const { complete, claim, ring, answer, told } = setUp();
    const held = heldAnswers<ClaimAnswerRow>();
    answer(statements.claimJobs, held.answer);
    claim();
    await ring();
    complete("1");
    await ring();
    await held.fail(sqlError("57014"));
    expect(told).toEqual([
      { who: "complete 1", answer: ["1"] },
      { who: "claim", error: expect.objectContaining({ code: "57014" }) },
    ]);
  });

  test.each([false, true])("tells the claim when its answer comes after it was given up (with outcomes: %s)", async (isTogether) => {
    const { clock, complete, claim, ring, answer, told, late } = setUp({ patienceMs: 1_000 });
    const held = heldAnswers<ClaimAnswerRow>();
    answer(statements.claimJobs, held.answer);
    answer(statements.completeAndClaim, held.answer);
    if (isTogether) complete("1");
    claim();
    await ring();
    await clock.advanceSlowly(1_000);
    expect(told.map(({ who, error }) => [who, error instanceof Error])).toEqual([
      ...(isTogether ? [["complete 1", true]] : []),
      ["claim", true],
    ]);
    expect(late).toEqual([]);
    await held.give(answerRows([aRow("9")], { completed: ["1"] }));
    expect(late).toEqual(["claim"]);
    expect(told).toHaveLength(isTogether ? 2 : 1);
  });

  test("has room again for what was given up", async () => {
    const { clock, complete, ring, answer, sent } = setUp({ patienceMs: 1_000 });
    answer(statements.completeJobs, () => new Promise(() => {}));
    for (const id of ["1", "2", "3"]) complete(id);
    await ring();
    expect(sent).toHaveLength(2);
    await clock.advanceSlowly(1_000);
    expect(sent).toHaveLength(3);
  });
});
