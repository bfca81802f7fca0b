import { setMaxListeners } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { pgListener } from "@queue/pg";
import { createWorker, type HandlerContext } from "@queue/worker";
import { QueueError } from "@queue/core";
import { sql } from "kysely";
import { skewClock } from "../processes/skew-clock.js";
import { applications, openDatabase, queue, times } from "./chaos-queue.js";
import { endWithParent } from "./end-with-parent.js";
import { createRunLog } from "./run-log.js";

const { CHAOS_URL: url, CHAOS_FOLDER: folder, CHAOS_CLOCK_OFF_MS: clockOffMs, CHAOS_RELEASE: release, CHAOS_SMALL: small } = process.env;
endWithParent();
if (url === undefined || folder === undefined) throw new Error("CHAOS_URL and CHAOS_FOLDER say where to work.");
if (clockOffMs !== undefined) skewClock(Number(clockOffMs));

/** `CHAOS_LOG=1` shows what the workers survive. */
const isLogged = process.env["CHAOS_LOG"] !== undefined;
// As the docs ask, a connection for each handler and two for the worker; or, for the small one, too few.
const { concurrency, connections } = small === undefined ? { concurrency: 20, connections: 22 } : { concurrency: 8, connections: 4 };
const db = openDatabase(url, connections, applications.worker);
const log = createRunLog(folder);

interface ChaosJob {
  readonly id: string;
  readonly attempt: number;
  readonly payload: { readonly token: string; readonly worksMs: number };
}

/**
 * Logs the begin and the end of a handler. It ends when the worker stops, as a handler should; it goes on when its lease is lost,
 * as careless ones do, against the fence.
 */
async function logged(
  job: ChaosJob,
  { signal }: Pick<HandlerContext, "signal">,
  work: (stop: AbortSignal) => Promise<void>,
): Promise<void> {
  const run = log.start(job);
  const stop = new AbortController();
  let isOk = false;
  const stopped = new Promise<never>((_resolve, reject) => {
    stop.signal.addEventListener("abort", () => reject(signal.reason as Error));
  });
  const onAbort = () => {
    if (QueueError.is(signal.reason, "WORKER_STOPPING") || graceIsOver.signal.aborted) stop.abort();
  };
  signal.addEventListener("abort", onAbort);
  // A signal is aborted once, and says nothing of the stop to a handler that went on after its lease was lost.
  graceIsOver.signal.addEventListener("abort", onAbort);
  onAbort();
  try {
    await Promise.race([work(stop.signal), stopped]);
    isOk = true;
  } finally {
    signal.removeEventListener("abort", onAbort);
    graceIsOver.signal.removeEventListener("abort", onAbort);
    log.end(run, isOk);
  }
}

/** The time that handlers have to end after SIGTERM. */
const graceIsOver = new AbortController();
setMaxListeners(0, graceIsOver.signal);

const works = (job: ChaosJob, stop: AbortSignal) => pause(job.payload.worksMs, undefined, { signal: stop });

async function holdConnection(job: ChaosJob, stop: AbortSignal): Promise<void> {
  await db.connection().execute(async (connection) => {
    await sql`select 1`.execute(connection);
    await works(job, stop);
  });
}

const worker = createWorker({
  queue,
  db,
  listener: pgListener({ connectionString: url, application_name: applications.listener, keepAlive: "2s" }),
  concurrency,
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
    plain: (job, ctx) => logged(job, ctx, (stop) => works(job, stop)),
    transactional: {
      transactional: true,
      run: (job, ctx) =>
        logged(job, ctx, async (stop) => {
          const { trx } = ctx;
          await sql`select set_config('application_name', ${applications.transaction}, true)`.execute(trx);
          await works(job, stop);
          await trx.insertInto("ledger").values({ job_id: job.id, token: job.payload.token }).execute();
        }),
    },
    once: (job, ctx) =>
      logged(job, ctx, async (stop) => {
        await works(job, stop);
        await ctx.once("effect", async () => {
          log.carriedOut(job.id);
          await pause(5);
        });
      }),
    hopeless: (job, ctx) =>
      logged(job, ctx, async (stop) => {
        await works(job, stop);
        throw new Error("fails at every attempt");
      }),
    greedy: (job, ctx) =>
      logged(job, ctx, async (stop) => {
        await Promise.all(Array.from({ length: 4 }, () => holdConnection(job, stop)));
      }),
    newer: release === "new" ? (job, ctx) => logged(job, ctx, (stop) => works(job, stop)) : undefined,
  },
});

let isStopping = false;
process.on("SIGTERM", () => {
  isStopping = true;
  setTimeout(() => graceIsOver.abort(), times.graceMs).unref();
});
while (!isStopping) {
  try {
    await worker.run();
    break;
  } catch {
    // As a supervisor would: a worker that cannot start, because there is no database at this moment, is started again.
    await pause(200);
  }
}
// The pool may hold connections that never answer a goodbye.
await Promise.race([db.destroy(), pause(1_000)]);
process.exit(0);
