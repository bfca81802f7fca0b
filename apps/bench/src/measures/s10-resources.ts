import { setTimeout as pause } from "node:timers/promises";
import { type Bench, onStage } from "../bench.js";
import { serverProcessorSeconds } from "../machine/processor-time.js";
import type { Variant } from "../variant.js";
import type { Readings } from "../metric.js";
import { type Measure, onPostgres } from "./measure.js";

const chunks = 10;
/** Memory is compared from here on: by then everything has been compiled and every pool filled. */
const warmChunks = 2;

export const s10Resources: Measure = {
  id: "S10",
  title: "Memory of a worker, processor time of the database",
  detail:
    "The heap of one worker process, after a full collection, at a fifth of its jobs and at their end. Processor time of all " +
    "processes of the server while ten worker processes have nothing to do.",
  metrics: [
    { key: "heapWarm", name: "heap, at a fifth", unit: "MB", better: "less" },
    { key: "heapEnd", name: "heap, at the end", unit: "MB", better: "less" },
    { key: "growth", name: "end to fifth", unit: "×", better: "less" },
    { key: "rss", name: "resident, at the end", unit: "MB", better: "less" },
    { key: "idle", name: "database, ten idle workers", unit: "% of a core", better: "less" },
  ],
  bars: [
    { metric: "growth", is: "at most", limit: 1.1 },
    { metric: "idle", is: "at most", limit: 1 },
  ],
  takes: (variant) => onPostgres(variant) && variant.side !== "raw-sql",
  async prepare(bench, variant) {
    return {
      round: async () => ({ ...(variant.settings === "best" ? await memory(bench, variant) : {}), ...(await idle(bench, variant)) }),
      close: async () => {},
    };
  },
};

function memory(bench: Bench, variant: Variant): Promise<Readings> {
  const jobs = bench.sizes.memoryJobs / chunks;
  return onStage(bench, variant, { aim: "throughput" }, async ({ producer, startRunner }) => {
    const worker = await startRunner();
    await worker.call("work", { record: false });
    let warm = Number.NaN;
    for (let chunk = 1; ; chunk++) {
      await producer.call("preload", { jobs, firstId: 0 });
      await worker.call("waitStarted", { jobs: chunk * jobs, timeoutMs: 120_000 });
      await worker.call("takeClaims");
      const { heapBytes, rssBytes } = await worker.call("memory");
      if (chunk === warmChunks) warm = heapBytes;
      if (chunk === chunks) return { heapWarm: warm / 1e6, heapEnd: heapBytes / 1e6, growth: heapBytes / warm, rss: rssBytes / 1e6 };
    }
  });
}

function idle(bench: Bench, variant: Variant): Promise<Readings> {
  const { idleSettleMs, idleMs, idleWorkers } = bench.sizes;
  return onStage(bench, variant, { aim: "latency" }, async ({ startRunner }) => {
    await Promise.all(Array.from({ length: idleWorkers }, async () => (await startRunner()).call("work", { record: false })));
    await pause(idleSettleMs);
    const member = await bench.server.processId();
    const before = await serverProcessorSeconds(member);
    await pause(idleMs);
    const after = await serverProcessorSeconds(member);
    return before === undefined || after === undefined ? {} : { idle: ((after - before) / (idleMs / 1_000)) * 100 };
  });
}
