import { setTimeout as pause } from "node:timers/promises";
import { pgListener } from "@queue/pg";
import { createWorker } from "@queue/worker";
import { openDatabase, queue, times } from "./chaos-queue.js";
import { createRunLog } from "./run-log.js";

const { CHAOS_URL: url, CHAOS_FOLDER: folder, CHAOS_CLOCK_OFF_MS: clockOffMs, CHAOS_RELEASE: release, CHAOS_POOL: pool } = process.env;
if (url === undefined || folder === undefined) throw new Error("CHAOS_URL and CHAOS_FOLDER say where to work.");

if (clockOffMs !== undefined) {
  const now = Date.now.bind(Date);
  Date.now = () => now() + Number(clockOffMs);
}

/** `CHAOS_LOG=1` shows what the workers survive. */
const isLogged = process.env["CHAOS_LOG"] !== undefined;
const db = openDatabase(url, Number(pool ?? 6), "chaos worker");
const log = createRunLog(folder);

/** Logs the begin and the end of a handler around `work`. */
async function logged(
  job: { id: string; attempt: number; payload: { token: string; worksMs: number } },
  work: () => Promise<void>,
): Promise<void> {
  const about = { job: job.id, attempt: job.attempt, token: job.payload.token };
  log({ what: "start", ...about });
  try {
    await pause(job.payload.worksMs);
    await work();
  } finally {
    log({ what: "end", ...about });
  }
}

const worker = createWorker({
  queue,
  db,
  listener: pgListener({ connectionString: url, application_name: "chaos listener", keepAlive: "2s" }),
  concurrency: 8,
  lease: times.leaseMs,
  heartbeat: times.heartbeatMs,
  sweepInterval: times.sweepMs,
  pollInterval: times.pollMs,
  shutdownGrace: times.graceMs,
  logger: isLogged ? undefined : { debug() {}, info() {}, warn() {}, error() {} },
  onEvent: (event) => {
    if (isLogged && event.type === "worker.error") console.error(process.pid, new Date().toISOString(), event.error.message);
  },
  handlers: {
    plain: (job) => logged(job, async () => {}),
    transactional: {
      transactional: true,
      run: (job, { trx }) =>
        logged(job, async () => {
          await trx.insertInto("ledger").values({ job_id: job.id, token: job.payload.token }).execute();
        }),
    },
    once: (job, ctx) =>
      logged(job, async () => {
        await ctx.once("effect", async () => {
          log({ what: "effect", job: job.id, attempt: job.attempt, token: job.payload.token });
          await pause(20);
        });
      }),
    hopeless: (job) =>
      logged(job, () => {
        throw new Error("fails at every attempt");
      }),
    newer: release === "new" ? (job) => logged(job, async () => {}) : undefined,
  },
});

// A supervisor would do the same: a worker that cannot start is started again.
for (let started = false; !started;) {
  started = await worker.start().then(
    () => true,
    () => false,
  );
  if (!started) await pause(200);
}
process.once("SIGTERM", () => {
  void worker
    .stop()
    .then(() => db.destroy())
    .then(() => process.exit(0));
});
