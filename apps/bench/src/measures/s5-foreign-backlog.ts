import { openStage, type Stage } from "../bench.js";
import type { Sizes } from "../sizes.js";
import { idleLatencies, latencyQuantile } from "./latencies.js";
import type { Reading } from "../metric.js";
import { type Measure, onPostgres } from "./measure.js";

export const s5ForeignBacklog: Measure = {
  id: "S5",
  title: "Foreign backlog",
  detail:
    "Start latency, idle, beside due jobs of a kind that this worker has no handler for, in the same lane (pg-boss: another queue), and without them.",
  metrics: [
    { key: "withP50", name: "p50, with", unit: "ms", better: "less" },
    { key: "withoutP50", name: "p50, without", unit: "ms", better: "less" },
    { key: "growth", name: "p50, with to without", unit: "×", better: "less" },
    { key: "withP99", name: "p99, with", unit: "ms", better: "less" },
    { key: "withoutP99", name: "p99, without", unit: "ms", better: "less" },
  ],
  bars: [{ metric: "growth", is: "at most", limit: 1.5 }],
  takes: onPostgres,
  async prepare(bench, variant) {
    const { sizes } = bench;
    const withBacklog = await openStage(bench, variant, { aim: "latency" });
    const without = await openStage(bench, variant, { aim: "latency" });
    await withBacklog.producer.call("insertBacklog", { backlog: "foreign", jobs: sizes.foreignJobs });
    return {
      async round() {
        const free = await latencies(without, sizes);
        const beside = await latencies(withBacklog, sizes);
        return {
          withP50: beside.p50,
          withoutP50: free.p50,
          withP99: beside.p99,
          withoutP99: free.p99,
          growth: ratio(beside.p50, free.p50),
        };
      },
      async close() {
        await Promise.all([withBacklog.close(), without.close()]);
      },
    };
  },
};

async function latencies({ producer, startRunner }: Stage, sizes: Sizes) {
  const worker = await startRunner();
  await worker.call("work", { record: true });
  const all = await idleLatencies(producer, [worker], { samples: sizes.latencySamples, budgetMs: sizes.latencyBudgetMs });
  await worker.call("stop");
  await worker.kill();
  return { p50: latencyQuantile(all, 0.5), p99: latencyQuantile(all, 0.99) };
}

function ratio(above: Reading, below: Reading): Reading {
  const value = (reading: Reading) => (typeof reading === "number" ? reading : reading.atLeast);
  const quotient = value(above) / value(below);
  return typeof above === "number" ? quotient : { atLeast: quotient };
}
