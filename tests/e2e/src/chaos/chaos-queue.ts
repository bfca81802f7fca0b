import { createQueue, job, type QueueDatabase } from "@queue/core";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";

interface Work {
  /** Names the business transaction that enqueued it. */
  readonly token: string;
  /** How long the handler works, in milliseconds. */
  readonly worksMs: number;
}

const backoff = { base: 50, cap: 400 };

/** One kind for each promise that the oracle checks. */
export const queue = createQueue({
  jobs: {
    plain: job<Work>({ backoff, maxAttempts: 50 }),
    /** Its ledger entry and its completion commit together. */
    transactional: job<Work>({ backoff, maxAttempts: 50 }),
    /** Its effect is recorded before it is carried out. */
    once: job<Work>({ backoff, maxAttempts: 50 }),
    /** Fails at every attempt. */
    hopeless: job<Work>({ backoff, maxAttempts: 4 }),
    /** Only workers of the newer release have a handler. */
    newer: job<Work>({ backoff, maxAttempts: 50 }),
  },
});

export interface ChaosTables {
  orders: { token: string };
  ledger: { job_id: string; token: string };
}

export type ChaosDatabase = Kysely<ChaosTables & QueueDatabase>;

/** Short, so that a run sees many expiries. */
export const times = { leaseMs: 2_000, heartbeatMs: 500, sweepMs: 500, pollMs: 500, graceMs: 1_500 } as const;

export function openDatabase(url: string, max: number, application: string): ChaosDatabase {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    application_name: application,
    connectionTimeoutMillis: 5_000,
    query_timeout: 10_000,
  });
  // A connection that is lost while nobody uses it; whoever uses one gets the error itself.
  pool.on("error", () => {});
  pool.on("connect", (client) => void client.on("error", () => {}));
  return new Kysely({ dialect: new PostgresDialect({ pool }) });
}
