import { createWorker } from "@queue/worker";
import { sql } from "kysely";
import { preload, queue, resetQueue } from "../bench-queue.js";
import type { BenchContext, Measure } from "./measure.js";
import { rawProcess } from "./raw-process.js";

/** Preloaded jobs, handled one by one in one process with `concurrency: 100`, all else at its default; beside raw SQL. */
export const processJobs: Measure = {
  name: "process",
  async run(context) {
    await resetQueue(context.db);
    await preload(context.db, context.jobs);
    const ours = await processWithWorker(context);
    await resetQueue(context.db);
    await preload(context.db, context.jobs);
    const rawMs = await rawProcess(context.url, context.jobs);
    return [
      { name: "worker, concurrency 100", unit: "jobs/s", value: (context.jobs / ours.ms) * 1_000 },
      { name: "worker, its own CPU", unit: "µs/job", value: ours.cpuUs / context.jobs },
      { name: "worker, WAL claim to archive", unit: "bytes/job", value: ours.walBytes / context.jobs },
      { name: "raw SQL, claim and settle 100 at a time", unit: "jobs/s", value: (context.jobs / rawMs) * 1_000 },
    ];
  },
};

async function processWithWorker({ db, jobs }: BenchContext): Promise<{ ms: number; cpuUs: number; walBytes: number }> {
  let handled = 0;
  let settled = 0;
  let onAllSettled = () => {};
  const allSettled = new Promise<void>((resolve) => {
    onAllSettled = resolve;
  });
  const worker = createWorker({
    queue,
    db,
    concurrency: 100,
    handlers: {
      noop: () => {
        handled += 1;
      },
    },
    onEvent: (event) => {
      if (event.type === "job.completed") settled += 1;
      if (settled === jobs) onAllSettled();
    },
  });
  const walBefore = await walPosition(db);
  const cpuBefore = process.cpuUsage();
  const began = performance.now();
  await worker.start();
  await allSettled;
  const ms = performance.now() - began;
  const cpu = process.cpuUsage(cpuBefore);
  const walBytes = (await walPosition(db)) - walBefore;
  await worker.stop();
  if (handled !== jobs) throw new Error(`${handled} handlers ran for ${jobs} jobs.`);
  return { ms, cpuUs: cpu.user + cpu.system, walBytes };
}

async function walPosition(db: BenchContext["db"]): Promise<number> {
  const { rows } = await sql<{ bytes: string }>`select (pg_current_wal_lsn() - '0/0')::text as bytes`.execute(db);
  return Number(rows[0]?.bytes);
}
