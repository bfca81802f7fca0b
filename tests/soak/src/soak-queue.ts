import { createQueue, job, type QueueDatabase } from "@queue/core";
import { type ColumnType, Kysely, PostgresDialect } from "kysely";
import pg from "pg";

interface Work {
  readonly order: string;
  readonly product: number;
}

const backoff = { base: 100, cap: 1_000 };

/** A kind for each thing that a job can go through; how often each comes is in `mix.ts`. All in the lane and with the times of the defaults. */
export const queue = createQueue({
  jobs: {
    plain: job<Work>(),
    transactional: job<Work>(),
    once: job<Work>(),
    keyedForTime: job<Work>(),
    keyedUntilStarted: job<Work>(),
    keyedUntilEnded: job<Work>(),
    retried: job<Work>({ backoff }),
    snoozed: job<Work>(),
    delayed: job<Work>(),
    cancelledWaiting: job<Work>(),
    cancelledRunning: job<Work>(),
    redriven: job<Work>(),
  },
});

/** Days that the archive keeps what is done, by default: the samples find a time in the archive by it. */
export const keepDays = 7;

/** What the business of the soak writes besides jobs. */
export interface SoakTables {
  /** `jobs`: how many it enqueued, written by the same transaction. */
  orders: { id: string; product: number; jobs: number; at: ColumnType<Date, never, never> };
  stock: { product: number; sold: number };
}

export type SoakDatabase = Kysely<SoakTables & QueueDatabase>;

/** So many rows of stock, that transactions seldom want the same one. */
export const products = 5_000;

export function openPool(url: string, max: number, application: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max, application_name: application });
  // A connection that is lost while nobody uses it; whoever uses one gets the error itself.
  pool.on("error", () => {});
  pool.on("connect", (client) => void client.on("error", () => {}));
  return pool;
}

export function openDatabase(pool: pg.Pool): SoakDatabase {
  return new Kysely({ dialect: new PostgresDialect({ pool }) });
}
