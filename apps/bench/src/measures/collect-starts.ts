import { setTimeout as pause } from "node:timers/promises";
import { steadyMs } from "../runner/clock.js";
import type { RunnerProcess } from "../runner/runner-process.js";
import type { Reading } from "../metric.js";

/** How often the worker's process is asked. The moments are its own, so that they do not become later by it. */
const askMs = 20;

/** Follows which jobs a worker has started, and when. */
export function collectStarts(worker: RunnerProcess) {
  const startedAt = new Map<number, number>();
  const failedAt = new Map<number, number>();
  const ask = async () => {
    const { starts, failures } = await worker.call("takeStarts");
    for (const { id, at } of starts) startedAt.set(id, at);
    for (const { id, at } of failures) failedAt.set(id, at);
  };
  const until = async (isOver: () => boolean, giveUpAt: number) => {
    for (;;) {
      await ask();
      if (isOver() || steadyMs() > giveUpAt) return;
      await pause(askMs);
    }
  };
  return {
    /** How late the last of the jobs starts. */
    async lateness(ids: readonly number[], dueAt: number, giveUpAt: number): Promise<Reading> {
      await until(() => ids.every((id) => startedAt.has(id)), giveUpAt);
      const moments = ids.map((id) => startedAt.get(id) ?? Infinity);
      const last = Math.max(...moments);
      return last === Infinity ? { atLeast: steadyMs() - dueAt } : last - dueAt;
    },
    /** When the attempt that was to fail began. @throws Error when it did not */
    async failureOf(id: number, patienceMs: number): Promise<number> {
      await until(() => failedAt.has(id), steadyMs() + patienceMs);
      const at = failedAt.get(id);
      if (at === undefined) throw new Error(`Job ${id} did not start within ${patienceMs} ms.`);
      return at;
    },
  };
}
