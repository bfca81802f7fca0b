import { setTimeout as pause } from "node:timers/promises";
import { openStage, type Stage } from "../bench.js";
import { claimQuantiles } from "./claim-quantiles.js";
import { bestOnPostgres, type Measure } from "./measure.js";

const shallow = { jobs: 1_000, times: 20 };

export const s6DeepBacklog: Measure = {
  id: "S6",
  title: "Deep backlog",
  detail: "How long a claim takes with millions of jobs queued, and with 1,000; full claims only, timed in the worker's process.",
  metrics: [
    { key: "deep", name: "claim p50, deep", unit: "ms", better: "less" },
    { key: "shallow", name: "claim p50, at 1,000", unit: "ms", better: "less" },
    { key: "growth", name: "deep to 1,000", unit: "×", better: "less" },
  ],
  bars: [{ metric: "growth", is: "at most", limit: 1.5 }],
  takes: bestOnPostgres,
  async prepare(bench, variant) {
    const { deepJobs, deepClaimMs } = bench.sizes;
    const [deepStage, shallowStage] = [
      await openStage(bench, variant, { aim: "throughput" }),
      await openStage(bench, variant, { aim: "throughput" }),
    ];
    await deepStage.producer.call("insertBacklog", { backlog: "due", jobs: deepJobs });
    await bench.server.checkpoint();
    return {
      async round() {
        const atThousand = await claimsAtThousand(shallowStage);
        const deep = await claimsOfBacklog(deepStage, deepClaimMs);
        return { deep, shallow: atThousand, growth: deep / atThousand };
      },
      async close() {
        await Promise.all([deepStage.close(), shallowStage.close()]);
      },
    };
  },
};

async function claimsAtThousand({ producer, startRunner }: Stage): Promise<number> {
  const worker = await startRunner();
  await worker.call("work", { record: false });
  for (let time = 1; time <= shallow.times; time++) {
    await producer.call("enqueueTogether", { jobs: shallow.jobs, firstId: 0 });
    await worker.call("waitStarted", { jobs: time * shallow.jobs, timeoutMs: 60_000 });
  }
  return stopAndJudge(worker);
}

async function claimsOfBacklog({ startRunner }: Stage, ms: number): Promise<number> {
  const worker = await startRunner();
  await worker.call("work", { record: false });
  await pause(ms);
  return stopAndJudge(worker);
}

async function stopAndJudge(worker: Awaited<ReturnType<Stage["startRunner"]>>): Promise<number> {
  const { p50 } = claimQuantiles(await worker.call("takeClaims"));
  await worker.call("stop");
  await worker.kill();
  return p50;
}
