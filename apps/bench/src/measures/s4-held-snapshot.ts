import { type Bench, onStage, type Stage } from "../bench.js";
import { median, quantile } from "../quantile.js";
import type { Variant } from "../variant.js";
import { bestOnPostgres, type Measure } from "./measure.js";

const warmUpJobs = 2_000;
const roundBudgetMs = 120_000;

export const s4HeldSnapshot: Measure = {
  id: "S4",
  title: "Snapshot held open",
  detail:
    "A transaction at repeatable read holds a snapshot, so that no dead row is cleaned. Rounds of jobs, each enqueued in one " +
    "transaction, to a worker that runs on; a round lasts from its commit to its last handler. First and last: the median of a tenth of the rounds.",
  metrics: [
    { key: "first", name: "first rounds", unit: "jobs/s", better: "more" },
    { key: "last", name: "last rounds", unit: "jobs/s", better: "more" },
    { key: "kept", name: "last to first", unit: "×", better: "more" },
    { key: "claimHeld", name: "claim p99, held", unit: "ms", better: "less" },
    { key: "claimFree", name: "claim p99, not held", unit: "ms", better: "less" },
    { key: "claimGrowth", name: "held to not held", unit: "×", better: "less" },
  ],
  bars: [
    { metric: "kept", is: "at least", limit: 0.85 },
    { metric: "claimGrowth", is: "at most", limit: 2 },
  ],
  takes: bestOnPostgres,
  async prepare(bench, variant) {
    return {
      async round() {
        const { heldRounds } = bench.sizes;
        const free = await rounds(bench, variant, Math.max(2, Math.round(heldRounds / 5)), async () => async () => {});
        const held = await rounds(bench, variant, heldRounds, async ({ database }) => (await database.holdSnapshot()).letGo);
        const edge = Math.max(1, Math.round(heldRounds / 10));
        const [first, last] = [median(held.rates.slice(0, edge)), median(held.rates.slice(-edge))];
        return {
          first,
          last,
          kept: last / first,
          claimHeld: held.claimP99,
          claimFree: free.claimP99,
          claimGrowth: held.claimP99 / free.claimP99,
        };
      },
      close: async () => {},
    };
  },
};

/** `hold` begins what is held through all rounds, and gives what ends it. */
function rounds(bench: Bench, variant: Variant, count: number, hold: (stage: Stage) => Promise<() => Promise<void>>) {
  const jobs = bench.sizes.heldRoundJobs;
  return onStage(bench, variant, { aim: "throughput" }, async (stage) => {
    const { producer, startRunner } = stage;
    const worker = await startRunner();
    await worker.call("work", { record: false });
    await producer.call("enqueueTogether", { jobs: warmUpJobs, firstId: 0 });
    await worker.call("waitStarted", { jobs: warmUpJobs, timeoutMs: roundBudgetMs });
    await worker.call("waitDrained", { timeoutMs: roundBudgetMs });
    const letGo = await hold(stage);
    await worker.call("takeClaims");
    const rates: number[] = [];
    for (let round = 0; round < count; round++) {
      const firstId = warmUpJobs + round * jobs;
      const committedAt = await producer.call("enqueueTogether", { jobs, firstId });
      const { started, lastAt } = await worker.call("waitStarted", { jobs: firstId + jobs, timeoutMs: roundBudgetMs });
      if (started < firstId + jobs) throw new Error(`Round ${round + 1} was not over after ${roundBudgetMs} ms.`);
      rates.push((jobs / (lastAt - committedAt)) * 1_000);
    }
    const claims = (await worker.call("takeClaims")).filter(({ rows }) => rows > 0);
    await letGo();
    return {
      rates,
      claimP99: quantile(
        claims.map(({ ms }) => ms),
        0.99,
      ),
    };
  });
}
