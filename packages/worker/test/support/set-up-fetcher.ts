import type { ClaimAnswerRow, ClaimedRow } from "@queue/core/internal";
import { Exchange } from "../../src/exchange/exchange.js";
import { Fetcher } from "../../src/fetch/fetcher.js";
import { Lines } from "../../src/fetch/lines.js";
import { Lookout } from "../../src/fetch/lookout.js";
import { Slots } from "../../src/run/slots.js";
import { DatabaseClock } from "../../src/time/database-clock.js";
import { answerRows, aRow, groupsIn } from "./claim-rows.js";
import { fakeClock, settlePromises } from "./fake-clock.js";
import { fakeDatabase, statements } from "./fake-database.js";
import { heldAnswers } from "./held-answers.js";

export const pollIntervalMs = 60_000;

interface FetcherSetting {
  readonly concurrency?: number;
  readonly ceilings?: ReadonlyMap<string, number>;
  readonly patienceMs?: number;
  /** So many transactional handlers may begin; the kind is one then. */
  readonly transactions?: number;
  /** So many jobs may wait for a slot. */
  readonly ahead?: number;
}

/** A fetcher with the services around it, over a fake database, whose clock stands still. */
export function setUpFetcher({
  concurrency = 10,
  ceilings = new Map(),
  patienceMs = 60_000,
  transactions,
  ahead = 0,
}: FetcherSetting = {}) {
  const clock = fakeClock();
  const { database, answer, sent, sentOf } = fakeDatabase({ clock, patienceMs });
  const claimed: ClaimedRow[] = [];
  const errors: unknown[] = [];
  const looked: (readonly [now: number, sentAtMs: number])[] = [];
  let backlog = 0;
  const onError = (error: unknown) => errors.push(error);
  const databaseClock = new (class extends DatabaseClock {
    override observe(micros: number, sentAtMs: number): void {
      looked.push([micros, sentAtMs]);
      super.observe(micros, sentAtMs);
    }
  })(clock);
  const lines = new Lines([{ lane: "default", priority: 5 }], undefined, ceilings);
  const slots: Slots = new Slots(concurrency, ceilings, () => fetcher.onRoom());
  const common = { database, statements, worker: "w", clock, lines, kinds: ["a"], pollIntervalMs, onError };
  const lookout: Lookout = new Lookout({ ...common, onFound: () => fetcher.wake() });
  const fetcher: Fetcher = new Fetcher({
    ...common,
    lookout,
    slots,
    prefetch: { size: ahead },
    leaseMs: 30_000,
    backlog: () => backlog,
    concurrency,
    known: () => claimed.map(({ id }) => id),
    onWanted: () => exchange.ring(),
    onClaimsLost: () => {},
    databaseClock,
    transactional: { kinds: new Set(transactions === undefined ? [] : ["a"]), free: () => transactions ?? 0 },
    onClaimed: (row) => {
      claimed.push(row);
      slots.take(row.lane);
    },
    onAnswered: () => {},
  });
  const exchange = new Exchange({ ...common, takeCompletions: () => undefined, takeClaim: () => fetcher.takeClaim() });
  const answerClaims = (claim: (parameters: readonly unknown[]) => ClaimedRow[]) =>
    answer(statements.claimJobs, (parameters) => answerRows(claim(parameters)));
  answerClaims(() => []);
  return {
    fetcher,
    lookout,
    clock,
    lines,
    slots,
    claimed,
    errors,
    /** What the database said its time is, and when the claim was sent that it answered. */
    looked,
    answer,
    answerClaims,
    /** Claims are answered by the test. */
    holdClaims() {
      const held = heldAnswers<ClaimAnswerRow>();
      answer(statements.claimJobs, held.answer);
      return {
        get awaited() {
          return held.awaited;
        },
        give: (taken: readonly ClaimedRow[], nth?: number) => held.give(answerRows(taken), nth),
        fail: held.fail,
      };
    },
    setBacklog: (count: number) => (backlog = count),
    claimedIds: () => claimed.map(({ id }) => id),
    sent,
    claims: () => sentOf(statements.claimJobs),
    looks: () => sentOf(statements.lookAhead).length,
    releases: () => sentOf(statements.releaseUnknownJobs),
    async begin() {
      fetcher.claimNow().catch(() => {});
      fetcher.start();
      await settlePromises();
    },
    async wake() {
      fetcher.wake();
      await settlePromises();
    },
    async release(lane = "default", count = 1) {
      for (let n = 0; n < count; n++) slots.release(lane);
      await settlePromises();
    },
    async stop() {
      await Promise.all([fetcher.stop(), lookout.stop()]);
    },
  };
}

/** So many jobs, with ids from `first` on. */
export function rows(count: number, first = 1): ClaimedRow[] {
  return Array.from({ length: count }, (_, n) => aRow(String(first + n)));
}

/** How much each group of a claim may take. */
export function takesIn(parameters: readonly unknown[] | undefined): number[] {
  return groupsIn(parameters).map(({ take }) => take);
}
