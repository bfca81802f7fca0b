import { onStage, type Stage } from "../bench.js";
import type { Bench } from "../bench.js";
import { claimQuantiles } from "../measures/claim-quantiles.js";
import { idleLatencies, latencyQuantile } from "../measures/latencies.js";
import type { Reading } from "../metric.js";
import { steadyMs } from "../runner/clock.js";
import type { RunnerProcess } from "../runner/runner-process.js";
import { variants } from "../variant.js";

/** One state of a queue that grows. What is not named is one, or none. */
export interface GrowthState {
  /** Jobs queued: due where claims and throughput are measured, due tomorrow where the start latency is. */
  readonly backlog?: number;
  readonly archived?: number;
  readonly processes?: number;
  readonly lanes?: number;
  readonly kinds?: number;
  readonly payloadBytes?: number;
}

export interface GrowthReading {
  readonly jobsPerSecond: number;
  readonly claimP50: number;
  readonly claimP99: number;
  readonly startP50: number;
  readonly startP99: number;
}

export interface GrowthSizes {
  /** Jobs that are worked off, where no backlog is. */
  readonly jobs: number;
  readonly payloadBudgetBytes: number;
  readonly latencySamples: number;
  /** A deep backlog is worked at for so long. */
  readonly budgetMs: number;
}

/** Measures ours in one state: throughput and claims first, then start latency in another database. */
export async function measureGrowth(bench: Bench, state: GrowthState, sizes: GrowthSizes): Promise<GrowthReading> {
  const [ours] = variants;
  if (ours === undefined) throw new Error("There are no variants.");
  const spread = { lanes: state.lanes ?? 1, kinds: Math.max(state.kinds ?? 1, state.lanes ?? 1) };
  const work = await onStage(bench, ours, { aim: "throughput", spread }, (stage) => throughput(stage, state, sizes));
  const start = await onStage(bench, ours, { aim: "latency", spread }, (stage) => latency(stage, state, sizes));
  return { ...work, ...start };
}

async function throughput(stage: Stage, state: GrowthState, sizes: GrowthSizes) {
  const { backlog = 0, archived = 0, processes = 1, payloadBytes = 0 } = state;
  const { producer, startRunner } = stage;
  if (archived > 0) await producer.call("insertBacklog", { backlog: "ended", jobs: archived });
  const preloaded = payloadBytes > 0 ? Math.min(sizes.jobs, Math.ceil(sizes.payloadBudgetBytes / payloadBytes)) : sizes.jobs;
  // As many for each process: they are slow until their code is compiled.
  const jobs = backlog > 0 ? backlog : preloaded * processes;
  if (backlog > 0) await producer.call("insertBacklog", { backlog: "due", jobs });
  else await producer.call("preload", { jobs, firstId: 0, payloadBytes });
  const workers: RunnerProcess[] = [];
  for (let count = 0; count < processes; count++) workers.push(await startRunner());
  await Promise.all(workers.map((worker) => worker.call("work", { record: false })));
  const { started, firstAt, lastAt } = await waitForAll(workers, jobs, sizes.budgetMs);
  const endAt = started < jobs ? lastAt : await producer.call("waitDrained", { timeoutMs: 60_000 });
  const claims = await Promise.all(workers.map((worker) => worker.call("takeClaims")));
  const { p50, p99 } = claimQuantiles(claims.flat());
  return { jobsPerSecond: (started / (endAt - firstAt)) * 1_000, claimP50: p50, claimP99: p99 };
}

/** Until the workers have started all jobs between them, or the time is over. */
async function waitForAll(workers: readonly RunnerProcess[], jobs: number, budgetMs: number) {
  const end = steadyMs() + budgetMs;
  for (;;) {
    const all = await Promise.all(workers.map((worker) => worker.call("waitStarted", { jobs, timeoutMs: 50 })));
    const busy = all.filter((progress) => progress.started > 0);
    const started = busy.reduce((sum, progress) => sum + progress.started, 0);
    if (started >= jobs || (steadyMs() >= end && started > 0)) {
      const firstAt = Math.min(...busy.map((progress) => progress.firstAt));
      return { started, firstAt, lastAt: Math.max(...busy.map((progress) => progress.lastAt)) };
    }
    if (steadyMs() >= end + 60_000) throw new Error(`No job started within ${budgetMs + 60_000} ms.`);
  }
}

async function latency({ producer, startRunner }: Stage, state: GrowthState, { latencySamples }: GrowthSizes) {
  const { backlog = 0, archived = 0, processes = 1 } = state;
  if (archived > 0) await producer.call("insertBacklog", { backlog: "ended", jobs: archived });
  if (backlog > 0) await producer.call("insertBacklog", { backlog: "tomorrow", jobs: backlog });
  const workers: RunnerProcess[] = [];
  for (let count = 0; count < processes; count++) workers.push(await startRunner());
  await Promise.all(workers.map((worker) => worker.call("work", { record: true })));
  const latencies = await idleLatencies(producer, workers, { samples: latencySamples, budgetMs: 10_000 });
  return { startP50: valueOf(latencyQuantile(latencies, 0.5)), startP99: valueOf(latencyQuantile(latencies, 0.99)) };
}

function valueOf(reading: Reading): number {
  return typeof reading === "number" ? reading : reading.atLeast;
}
