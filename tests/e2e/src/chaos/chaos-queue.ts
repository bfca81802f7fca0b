import { createQueue, job, type QueueDatabase } from "@queue/core";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";

interface Work {
  /** Names the order that enqueued it. */
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
    /** Holds four connections of its worker's pool while it works. */
    greedy: job<Work>({ backoff, maxAttempts: 50 }),
  },
});

export type ChaosKind = keyof typeof queue.jobs;

export interface ChaosTables {
  /** What committed, and the kinds of the jobs that committed with it: job `n` of an order has the key `token/n`. */
  orders: { token: string; kinds: string[] };
  ledger: { job_id: string; token: string };
}

export type ChaosDatabase = Kysely<ChaosTables & QueueDatabase>;

/** Short, so that a run sees many expiries. */
export const times = { leaseMs: 2_000, heartbeatMs: 500, sweepMs: 500, pollMs: 500, graceMs: 1_500 } as const;

/** What the sessions of a run are called in `pg_stat_activity`. */
export const applications = {
  worker: "chaos worker",
  listener: "chaos listener",
  /** A session of a worker while a transactional handler has it. */
  transaction: "chaos transaction",
  producer: "chaos producer",
  oracle: "chaos oracle",
  outsider: "chaos outsider",
} as const;

export function openDatabase(url: string, max: number, application: string): ChaosDatabase {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    application_name: application,
    connectionTimeoutMillis: 5_000,
    ...(application === applications.oracle
      ? { idleTimeoutMillis: 0 }
      : { query_timeout: application === applications.producer ? 3_000 : 5_000 }),
  });
  // A connection that is lost while nobody uses it; whoever uses one gets the error itself.
  pool.on("error", () => {});
  pool.on("connect", (client) => void client.on("error", () => {}));
  return new Kysely({ dialect: new PostgresDialect({ pool }) });
}

/** What a business transaction places: one row of `orders`, and its jobs. */
export interface Order {
  readonly token: string;
  readonly jobs: readonly { readonly kind: ChaosKind; readonly worksMs: number }[];
}

/** The jobs of an order, as `enqueueMany` takes them. */
export function jobsOf({ token, jobs }: Order) {
  return jobs.map(({ kind, worksMs }, index) => ({
    kind,
    payload: { token, worksMs },
    options: { key: `${token}/${index + 1}` },
  }));
}

export function rowOf({ token, jobs }: Order): ChaosTables["orders"] {
  return { token, kinds: jobs.map(({ kind }) => kind) };
}
