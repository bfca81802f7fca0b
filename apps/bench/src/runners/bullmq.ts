import { Queue, Worker } from "bullmq";
import { steadyMs } from "../runner/clock.js";
import { serveRunner } from "../runner/serve-runner.js";
import type { BenchJob, System, SystemOptions } from "../runner/system.js";

/** A name that nobody else has: the Redis may be one that is in use. */
const name = "queue-bench";
/** https://docs.bullmq.io/guide/workers/concurrency: many jobs at once, as they do nothing but wait. */
const bestConcurrency = 500;
const options = { removeOnComplete: true, attempts: 2, backoff: { type: "fixed", delay: 1_000 } };

/** On Redis: weaker durability, and no transaction with the business rows. */
function bullmq({ url, settings }: SystemOptions): System {
  const { hostname, port, password, username } = new URL(url);
  const connection = {
    host: hostname,
    port: Number(port || 6_379),
    maxRetriesPerRequest: null,
    ...(username === "" ? {} : { username }),
    ...(password === "" ? {} : { password }),
  };
  const queue = new Queue<BenchJob>(name, { connection });
  let worker: Worker<BenchJob> | undefined;
  const items = (jobs: readonly BenchJob[]) => jobs.map((data) => ({ name, data, opts: options }));
  return {
    retryDelayMs: 1_000,
    async install() {
      await queue.obliterate({ force: true });
    },
    async connect() {
      await queue.waitUntilReady();
    },
    async enqueue(job, delayMs) {
      await queue.add(name, job, { ...options, ...(delayMs > 0 ? { delay: delayMs } : {}) });
    },
    async enqueueMany(jobs) {
      await queue.addBulk(items(jobs));
    },
    async enqueueTogether(jobs) {
      const at = steadyMs();
      await queue.addBulk(items(jobs));
      return at;
    },
    async work(onStart) {
      worker = new Worker<BenchJob>(
        name,
        async ({ data }) => {
          if (onStart(data) === "fail") throw new Error("Once.");
        },
        { connection, ...(settings === "best" ? { concurrency: bestConcurrency } : {}) },
      );
      await worker.waitUntilReady();
    },
    async isDrained() {
      const counts = await queue.getJobCounts("waiting", "active", "delayed", "prioritized");
      return Object.values(counts).every((count) => count === 0);
    },
    async stop() {
      await worker?.close();
    },
  };
}

serveRunner(bullmq);
