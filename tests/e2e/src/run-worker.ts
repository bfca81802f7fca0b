import { setTimeout as pause } from "node:timers/promises";
import { createQueue, job, type QueueDatabase } from "@queue/core";
import { pgListener } from "@queue/pg";
import { createWorker } from "@queue/worker";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";

/** The queue of the end-to-end tests. A job works for so long, and says on standard output when it starts and ends. */
export const queue = createQueue({
  jobs: {
    work: job<{ ms: number }>({ maxAttempts: 3 }),
    /** Kills its process. */
    deadly: job({ maxAttempts: 3 }),
    /** Its ledger entry and its completion commit together. */
    ledger: job<{ ms: number }>({ maxAttempts: 100, backoff: { base: 1 } }),
  },
});

export interface LedgerTable {
  ledger: { job_id: string };
}

/** What a worker process says, a line each. */
export interface Said {
  readonly what: "ready" | "start" | "end";
  readonly id?: string;
  readonly attempt?: number;
}

function say(said: Said): void {
  process.stdout.write(`${JSON.stringify(said)}\n`);
}

/** A whole application: its own pool, `worker.run()`, and nothing else. */
async function main(connectionString: string, grace: number): Promise<void> {
  const pool = new pg.Pool({ connectionString });
  pool.on("error", () => {});
  const db = new Kysely<LedgerTable & QueueDatabase>({ dialect: new PostgresDialect({ pool }) });
  const worker = createWorker({
    queue,
    db,
    listener: pgListener({ connectionString }),
    lease: "1s",
    heartbeat: "200ms",
    sweepInterval: "250ms",
    pollInterval: "250ms",
    shutdownGrace: grace,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    onEvent: ({ type }) => {
      if (type === "worker.started") say({ what: "ready" });
    },
    handlers: {
      work: async ({ id, attempt, payload }) => {
        say({ what: "start", id, attempt });
        await pause(payload.ms);
        say({ what: "end", id, attempt });
      },
      deadly: ({ id, attempt }) => {
        say({ what: "start", id, attempt });
        process.kill(process.pid, "SIGKILL");
      },
      ledger: {
        transactional: true,
        run: async ({ id, payload }, { trx }) => {
          await trx.insertInto("ledger").values({ job_id: id }).execute();
          await pause(payload.ms);
        },
      },
    },
  });
  await worker.run();
  // A handler that ignores its signal would keep the process alive: what follows `run` decides.
  process.exit();
}

const { E2E_URL: url, E2E_GRACE_MS: grace } = process.env;
if (url !== undefined) await main(url, Number(grace ?? 5_000));
