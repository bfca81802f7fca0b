import { setTimeout as pause } from "node:timers/promises";
import { pgListener } from "@queue/pg";
import type { Worker, WorkerOptions } from "@queue/worker";
import { queue } from "./e2e-queue.js";
import { openDatabase } from "./open-database.js";
import { pretendToBe } from "./pretend-to-be.js";
import { report } from "./report.js";
import { skewClock } from "./skew-clock.js";

/** How a test wants this process to be. */
export interface WorkSettings {
  readonly url: string;
  /** @default true */
  readonly listens?: boolean;
  readonly options?: Pick<
    WorkerOptions<typeof queue.jobs, never>,
    "concurrency" | "lease" | "heartbeat" | "pollInterval" | "sweepInterval" | "shutdownGrace"
  >;
  readonly clockOffMs?: number;
  readonly pretends?: { readonly host: string; readonly pid: number };
  /** `run`: until a signal. `startAndStop`: nothing else. `stopWhileFailing`: stops while a job is about to fail. @default "run" */
  readonly does?: "run" | "startAndStop" | "stopWhileFailing";
}

const settings = JSON.parse(process.env["E2E_WORK"] ?? "{}") as WorkSettings;
if (settings.clockOffMs !== undefined) skewClock(settings.clockOffMs);
const ownPid = process.pid;
if (settings.pretends !== undefined) pretendToBe(settings.pretends.host, settings.pretends.pid);
// After the process has become what it pretends to be.
const { createWorker } = await import("@queue/worker");

const { db, lost } = openDatabase(settings.url);
let onFailing = () => {};
const failing = new Promise<void>((resolve) => (onFailing = resolve));

const about = (job: { readonly id: string; readonly kind: string; readonly attempt: number }) => ({
  id: job.id,
  kind: job.kind,
  attempt: job.attempt,
  ownPid,
});

const worker: Worker = createWorker({
  queue,
  db,
  listener: settings.listens === false ? undefined : pgListener({ connectionString: settings.url }),
  concurrency: 5,
  ...settings.options,
  logger: {
    debug() {},
    info() {},
    warn: (details, message) => report("warning", { ...details, message }),
    error: (details, message) => report("error", { ...details, message }),
  },
  onEvent: (event) => report(event.type, { ...event, ...("error" in event ? { error: String(event.error) } : {}) }),
  handlers: {
    quick: (job) => report("handling", about(job)),
    work: async (job) => {
      report("handling", about(job));
      // Does not keep the process alive: what goes on after a stop must not either.
      await pause(job.payload.ms, undefined, { ref: false });
      report("worked", about(job));
      if (job.payload.fails) throw new Error("as it was told");
    },
    spin: (job) => {
      report("handling", about(job));
      const end = performance.now() + job.payload.ms;
      while (performance.now() < end);
    },
    kill: (job) => {
      report("handling", about(job));
      process.kill(ownPid, "SIGKILL");
    },
    enter: {
      transactional: true,
      run: async (job, { trx }) => {
        report("handling", about(job));
        await trx.insertInto("ledger").values({ entry: job.payload.entry, job: job.id, attempt: job.attempt, pid: ownPid }).execute();
        await pause(job.payload.ms);
      },
    },
    later: async (job) => {
      report("handling", about(job));
      onFailing();
      await pause(200);
      throw new Error("in five minutes");
    },
  },
});

switch (settings.does) {
  case "startAndStop":
    await worker.start();
    await worker.stop();
    break;
  case "stopWhileFailing":
    await worker.start();
    await failing;
    await worker.stop();
    break;
  case undefined:
  case "run":
    await worker.run();
    break;
}
report("stopped", { lost: lost.length });
await db.destroy();
