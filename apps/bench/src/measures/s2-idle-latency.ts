import { idleLatencies, latencyQuantile } from "./latencies.js";
import { afresh, everyVariant, type Measure } from "./measure.js";

export const s2IdleLatency: Measure = {
  id: "S2",
  title: "Start latency, idle",
  detail: "From the call of enqueue in one process to the begin of the handler in another, one job at a time, the worker idle.",
  metrics: [
    { key: "p50", name: "p50", unit: "ms", better: "less" },
    { key: "p99", name: "p99", unit: "ms", better: "less" },
  ],
  bars: [
    { metric: "p50", is: "at most", limit: 0.6, against: "best peer" },
    { metric: "p99", is: "at most", limit: 10 },
  ],
  takes: everyVariant,
  prepare: afresh({ aim: "latency" }, async ({ producer, startRunner }, { sizes }) => {
    const worker = await startRunner();
    await worker.call("work", { record: true });
    const latencies = await idleLatencies(producer, [worker], { samples: sizes.latencySamples, budgetMs: sizes.latencyBudgetMs });
    return { p50: latencyQuantile(latencies, 0.5), p99: latencyQuantile(latencies, 0.99) };
  }),
};
