import { setTimeout as pause } from "node:timers/promises";
import { PermanentError } from "@queue/core";
import { pgListener } from "@queue/pg";
import { createWorker, snooze } from "@queue/worker";
import { noteWarnings } from "./note-warnings.js";
import { answerSamples } from "./process-sample.js";
import { openDatabase, openPool, queue } from "./soak-queue.js";

const { SOAK_URL: url, SOAK_NAME: name = "worker", SOAK_CONCURRENCY: concurrency } = process.env;
if (url === undefined) throw new Error("SOAK_URL says where to work.");

/** Of a job's life so far, from which its handler knows that it was put back. */
const shortLifeMs = 400;
const pool = openPool(url, Number(concurrency) + 2, `soak ${name}`);
const db = openDatabase(pool);
let latency = new Map<number, number>();
let troubles: string[] = [];

noteWarnings((warning) => troubles.push(`${name}: ${warning}`));
answerSamples(pool, () => {
  const told = { name, startLatency: [...latency], troubles };
  latency = new Map();
  troubles = [];
  return told;
});

const hasJustCome = (job: { readonly createdAt: Date; readonly runAt: Date }) =>
  job.runAt.getTime() - job.createdAt.getTime() < shortLifeMs;
/** As short as most real work: a round trip to somewhere. */
const work = () => pause(1 + Math.random() * 4);

const worker = createWorker({
  queue,
  db,
  listener: pgListener({ connectionString: url, application_name: `soak ${name} listener` }),
  concurrency: Number(concurrency),
  logger: {
    debug() {},
    info() {},
    // The mix has failures that are meant.
    warn: (_details, message) => {
      if (!message.startsWith("An attempt failed")) troubles.push(`${name}: ${message}`);
    },
    // The soak lets jobs die on purpose; anything else that is an error would show as an event, too.
    error() {},
  },
  onEvent: (event) => {
    if (event.type === "job.started") {
      const waited = Math.round(event.waitedMs);
      latency.set(waited, (latency.get(waited) ?? 0) + 1);
    } else if (event.type === "worker.error" || event.type === "job.lease-lost") {
      troubles.push(`${name}: ${event.type}: ${event.error.message}`);
    } else if (event.type === "job.dead" && event.kind !== "redriven") {
      troubles.push(`${name}: job.dead: ${event.kind} ${event.id}: ${String(event.error)}`);
    }
  },
  handlers: {
    plain: work,
    delayed: work,
    keyedForTime: work,
    keyedUntilStarted: work,
    keyedUntilEnded: work,
    transactional: {
      transactional: true,
      run: async (job, { trx }) => {
        await trx
          .updateTable("stock")
          .set((eb) => ({ sold: eb("sold", "+", 1) }))
          .where("product", "=", job.payload.product)
          .execute();
      },
    },
    once: async (_job, ctx) => {
      await ctx.once("charge", work);
    },
    retried: async (job) => {
      await work();
      if (job.attempt === 1) throw new Error("fails at its first attempt");
    },
    snoozed: async (job) => {
      await work();
      if (hasJustCome(job)) return snooze("500ms");
    },
    cancelledWaiting: work,
    cancelledRunning: async (_job, ctx) => {
      // Ends by the signal; a cancel that was too early for it has ended the job before.
      await pause(20_000, undefined, { signal: ctx.signal });
    },
    redriven: async (job) => {
      await work();
      if (hasJustCome(job)) throw new PermanentError("dies at once");
    },
  },
});

await worker.run();
await db.destroy();
process.disconnect();
