import { setTimeout as pause } from "node:timers/promises";
import { collectStarts } from "./collect-starts.js";
import { afresh, type Measure } from "./measure.js";

const pollMs = 60_000;
const burst = { jobs: 1_000, firstId: 0, ids: Array.from({ length: 1_000 }, (_, id) => id) };
const delayed = { id: 10_001, delayMs: 3_000 };
const failing = { id: 10_002, failOnce: true };
/** How late something may be before the bench stops waiting. */
const patienceMs = 2_000;

export const s9DueTimes: Measure = {
  id: "S9",
  title: "On time, without the poll",
  detail:
    "Poll interval of a minute. How late the last of 1,000 jobs of one transaction starts, a job that is due in 3 s, and a retry " +
    "that is due in 1 s (graphile-worker: in 2.7 s, which cannot be set).",
  metrics: [
    { key: "burst", name: "burst of 1,000, last", unit: "ms", better: "less" },
    { key: "delayed", name: "due in 3 s", unit: "ms", better: "less" },
    { key: "retried", name: "retry due in 1 s", unit: "ms", better: "less" },
  ],
  bars: [
    { metric: "burst", is: "at most", limit: 100 },
    { metric: "delayed", is: "at most", limit: 100 },
    { metric: "retried", is: "at most", limit: 100 },
  ],
  takes: ({ side, settings }) => side !== "raw-sql" && settings === "best",
  prepare: afresh({ aim: "throughput", pollMs }, async ({ producer, startRunner, retryDelayMs }) => {
    const worker = await startRunner();
    await worker.call("work", { record: true });
    await pause(1_000);
    const starts = collectStarts(worker);
    const committedAt = await producer.call("enqueueTogether", burst);
    const burstLate = await starts.lateness(burst.ids, committedAt, committedAt + patienceMs);
    const delayedDue = (await producer.call("enqueueOne", delayed)) + delayed.delayMs;
    const delayedLate = await starts.lateness([delayed.id], delayedDue, delayedDue + patienceMs);
    await producer.call("enqueueOne", failing);
    const retryDue = (await starts.failureOf(failing.id, patienceMs)) + retryDelayMs;
    const retryLate = await starts.lateness([failing.id], retryDue, retryDue + patienceMs);
    return { burst: burstLate, delayed: delayedLate, retried: retryLate };
  }),
};
