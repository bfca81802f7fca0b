import type { Stage } from "../bench.js";
import { afresh, bestOnPostgres, type Measure } from "./measure.js";

export const s8LogPerJob: Measure = {
  id: "S8",
  title: "Write-ahead log per job",
  detail:
    "From the bulk enqueue until the job is settled, after a tenth as many jobs to warm up and a vacuum, with no checkpoint in between: " +
    "what is logged in full pages all the same stands beside.",
  metrics: [
    { key: "bytes", name: "log", unit: "bytes/job", better: "less" },
    { key: "fullPages", name: "of it, pages in full", unit: "bytes/job", better: "less" },
  ],
  bars: [{ metric: "bytes", is: "at most", limit: 1_000 }],
  takes: bestOnPostgres,
  prepare: afresh({ aim: "throughput" }, async (stage, { server, sizes: { jobs } }) => {
    const warmUpJobs = Math.ceil(jobs / 10);
    await throughTheQueue(stage, warmUpJobs, 0);
    // Else autovacuum may come to the tables of the catalogue in the middle, and has their pages logged in full.
    await stage.database.vacuum();
    const before = await server.logPosition();
    await throughTheQueue(stage, jobs, warmUpJobs);
    const { bytes, fullPageBytes } = await server.logBetween(before, await server.logPosition());
    return { bytes: bytes / jobs, fullPages: fullPageBytes / jobs };
  }),
};

async function throughTheQueue({ producer, startRunner }: Stage, jobs: number, firstId: number): Promise<void> {
  await producer.call("preload", { jobs, firstId });
  const worker = await startRunner();
  await worker.call("work", { record: false });
  await worker.call("waitStarted", { jobs, timeoutMs: 120_000 });
  await worker.call("waitDrained", { timeoutMs: 60_000 });
  await worker.call("stop");
  await worker.kill();
}
