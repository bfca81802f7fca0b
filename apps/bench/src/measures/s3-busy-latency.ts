import { latencyQuantile, match } from "./latencies.js";
import { afresh, everyVariant, type Measure } from "./measure.js";

const perSecond = 1_000;
const warmUp = { jobs: 200, firstId: 1_000_000_000 };
/** How long the bench waits for what has not begun when the arrivals are over. */
const patienceMs = 2_000;

export const s3BusyLatency: Measure = {
  id: "S3",
  title: "Start latency, 1,000 jobs/s arriving",
  detail: "One process enqueues a thousand jobs a second, each by a call of its own, whatever the answers do; another works.",
  metrics: [
    { key: "p50", name: "p50", unit: "ms", better: "less" },
    { key: "p99", name: "p99", unit: "ms", better: "less" },
  ],
  bars: [{ metric: "p99", is: "at most", limit: 0.5, against: "best peer" }],
  takes: everyVariant,
  prepare: afresh({ aim: "latency" }, async ({ producer, startRunner }, { sizes: { arrivalMs } }) => {
    const worker = await startRunner();
    await worker.call("work", { record: true });
    await producer.call("enqueueTogether", warmUp);
    const { started } = await worker.call("waitStarted", { jobs: warmUp.jobs, timeoutMs: patienceMs });
    const calledAt = await producer.call("arrive", { perSecond, ms: arrivalMs, firstId: 0 });
    await worker.call("waitStarted", { jobs: started + calledAt.length, timeoutMs: patienceMs });
    const { starts } = await worker.call("takeStarts");
    const latencies = match(calledAt, starts);
    return { p50: latencyQuantile(latencies, 0.5), p99: latencyQuantile(latencies, 0.99) };
  }),
};
