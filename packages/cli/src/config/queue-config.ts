import type { JobDefinitions, Queue } from "@queue/core";

/** What `queue.config.ts` exports as its default. Flags come before it, and `DATABASE_URL` before `url`. */
export interface QueueConfig {
  /** The connection string, `postgres://user@host:5432/database`. @default the environment variable `DATABASE_URL` */
  readonly url?: string | undefined;
  /** The database schema of the tables. @default the queue's own, else "queue" */
  readonly schema?: string | undefined;
  /** The application's queue: with it `enqueue` checks kinds and payloads, and `cancel` knows how long a kind is kept. */
  readonly queue?: ConfiguredQueue | undefined;
}

/** A queue with any kinds. */
export type ConfiguredQueue = Pick<Queue<JobDefinitions, string>, "schema" | "jobs" | "admin">;

/**
 * `config` as it is; for its type.
 *
 * @example export default defineConfig({ url: process.env.QUEUE_URL, queue });
 */
export function defineConfig(config: QueueConfig): QueueConfig {
  return config;
}
