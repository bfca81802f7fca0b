import { setTimeout as pause } from "node:timers/promises";
import type { Start } from "../runner/protocol.js";
import { steadyMs } from "../runner/clock.js";
import type { RunnerProcess } from "../runner/runner-process.js";
import type { Reading } from "../metric.js";

/** One wait from the call of enqueue to the begin of the handler; `isOver` false: it had not begun when the bench stopped waiting. */
export interface Latency {
  readonly ms: number;
  readonly isOver: boolean;
}

export interface IdlePlan {
  readonly samples: number;
  readonly budgetMs: number;
}

const warmUp = { samples: 5, budgetMs: 1_000 };
const warmUpIds = 1_000_000_000;

/** Enqueues one job at a time, each after the one before has begun and a pause: every worker is idle at each. */
export async function idleLatencies(
  producer: RunnerProcess,
  workers: readonly RunnerProcess[],
  plan: IdlePlan,
): Promise<readonly Latency[]> {
  await oneAtATime(producer, workers, warmUp, warmUpIds);
  await takeStarts(workers);
  const calledAt = await oneAtATime(producer, workers, plan, 0);
  return withoutCutOff(match(calledAt, await takeStarts(workers)));
}

/** The last job may have been cut off by the end of the time: that says something only when it had waited the longest of all. */
function withoutCutOff(latencies: readonly Latency[]): readonly Latency[] {
  const longest = Math.max(0, ...latencies.filter(({ isOver }) => isOver).map(({ ms }) => ms));
  return latencies.filter(({ isOver, ms }) => isOver || ms > longest);
}

/** The moment of each call. */
async function oneAtATime(
  producer: RunnerProcess,
  workers: readonly RunnerProcess[],
  { samples, budgetMs }: IdlePlan,
  firstId: number,
): Promise<readonly number[]> {
  const calledAt: number[] = [];
  const end = steadyMs() + budgetMs;
  while (calledAt.length < samples) {
    await pause(5 + Math.random() * 10);
    const timeoutMs = end - steadyMs();
    if (timeoutMs <= 0) break;
    const before = await Promise.all(workers.map((worker) => worker.call("progress")));
    calledAt.push(await producer.call("enqueueOne", { id: firstId + calledAt.length }));
    await Promise.race(workers.map((worker, index) => worker.call("waitStarted", { jobs: (before[index]?.started ?? 0) + 1, timeoutMs })));
  }
  return calledAt;
}

async function takeStarts(workers: readonly RunnerProcess[]): Promise<readonly Start[]> {
  const taken = await Promise.all(workers.map((worker) => worker.call("takeStarts")));
  return taken.flatMap(({ starts }) => starts);
}

/** Jobs are numbered from zero, in the order of their calls. */
export function match(calledAt: readonly number[], starts: readonly Start[]): readonly Latency[] {
  const startedAt = new Map(starts.map(({ id, at }) => [id, at]));
  const now = steadyMs();
  return calledAt.map((called, id) => {
    const started = startedAt.get(id);
    return started === undefined ? { ms: now - called, isOver: false } : { ms: started - called, isOver: true };
  });
}

/** Those that are not over stand after all others, for they may have taken any time. */
export function latencyQuantile(latencies: readonly Latency[], q: number): Reading {
  const sorted = [...latencies].sort((a, b) => (a.isOver === b.isOver ? a.ms - b.ms : a.isOver ? -1 : 1));
  const latency = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))];
  if (latency === undefined) return Number.NaN;
  return latency.isOver ? latency.ms : { atLeast: latency.ms };
}
