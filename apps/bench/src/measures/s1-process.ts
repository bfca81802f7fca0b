import type { Progress } from "../runner/protocol.js";
import { afresh, everyVariant, type Measure } from "./measure.js";

export const s1Process: Measure = {
  id: "S1",
  title: "Process preloaded jobs",
  detail:
    "One process works off what was enqueued before; from the first handler until no job waits or runs. Ours: defaults, concurrency 100.",
  metrics: [{ key: "rate", name: "processed", unit: "jobs/s", better: "more" }],
  bars: [
    { metric: "rate", is: "at least", limit: 2, against: "best peer" },
    { metric: "rate", is: "at least", limit: 0.7, against: "raw SQL" },
  ],
  takes: everyVariant,
  prepare: afresh({ aim: "throughput" }, async ({ producer, startRunner }, { sizes: { jobs, budgetMs } }) => {
    await producer.call("preload", { jobs, firstId: 0 });
    const worker = await startRunner();
    await worker.call("work", { record: false });
    const progress = await worker.call("waitStarted", { jobs, timeoutMs: budgetMs });
    if (progress.started < jobs) return { rate: rateSoFar(progress) };
    const drainedAt = await worker.call("waitDrained", { timeoutMs: 60_000 });
    return { rate: (jobs / (drainedAt - progress.firstAt)) * 1_000 };
  }),
};

/** Of a side that is too slow to be waited for. */
function rateSoFar({ started, firstAt, lastAt }: Progress): number {
  return started < 2 ? 0 : ((started - 1) / (lastAt - firstAt)) * 1_000;
}
