import { setTimeout as pause } from "node:timers/promises";
import { steadyMs } from "./clock.js";
import type { BenchJob, System } from "./system.js";

const batch = 5_000;

export function benchJobs(count: number, firstId: number, payloadBytes = 0): BenchJob[] {
  const filler = payloadBytes > 0 ? { filler: "x".repeat(payloadBytes) } : {};
  return Array.from({ length: count }, (_, index) => ({ id: firstId + index, hello: "world", ...filler }));
}

/** Bulk enqueue in batches: fewer jobs a batch when they are large. */
export async function preload(system: System, jobs: number, firstId: number, payloadBytes = 0): Promise<void> {
  const size = Math.max(1, Math.min(batch, Math.floor(20_000_000 / Math.max(1, payloadBytes))));
  for (let done = 0; done < jobs; done += size)
    await system.enqueueMany(benchJobs(Math.min(size, jobs - done), firstId + done, payloadBytes));
}

/**
 * Calls that are late, because the process was busy, are made at once, and count from when they are made. One that fails, as
 * when a library gives up waiting for a connection, is a job that never starts, and counts as that.
 */
export async function arrive(system: System, perSecond: number, ms: number, firstId: number): Promise<readonly number[]> {
  const total = Math.round((perSecond * ms) / 1_000);
  const calledAt: number[] = [];
  const calls: Promise<void>[] = [];
  const began = steadyMs();
  while (calledAt.length < total) {
    const due = Math.min(total, Math.floor(((steadyMs() - began) * perSecond) / 1_000) + 1);
    while (calledAt.length < due) {
      const id = firstId + calledAt.length;
      calledAt.push(steadyMs());
      calls.push(system.enqueue({ id, hello: "world" }, 0));
    }
    await pause(1);
  }
  await Promise.allSettled(calls);
  return calledAt;
}

/** One transaction after another on each connection. */
export async function flood(system: System, connections: number, ms: number, firstId: number) {
  const enqueue = system.enqueueInTransaction?.bind(system);
  if (enqueue === undefined) throw new Error("This side has no transactions.");
  let id = firstId;
  let transactions = 0;
  const began = steadyMs();
  const client = async () => {
    while (steadyMs() - began < ms) {
      await enqueue({ id: id++, hello: "world" });
      transactions += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, client));
  return { transactions, ms: steadyMs() - began };
}
