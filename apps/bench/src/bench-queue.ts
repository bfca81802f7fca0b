import { createQueue, job, type QueueDatabase } from "@queue/core";
import { Kysely, PostgresDialect, sql } from "kysely";
import { migrate } from "@queue/core/migrations";
import pg from "pg";

/** Handlers do nothing and payloads are small: what is measured is the queue. */
export const queue = createQueue({ jobs: { noop: job<{ id: number; hello: string }>() } });

export type BenchDatabase = Kysely<QueueDatabase>;

export function openDatabase(url: string): BenchDatabase {
  return new Kysely<QueueDatabase>({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 10 }) }) });
}

/** An empty queue, and a server that has nothing left to do from before. */
export async function resetQueue(db: BenchDatabase): Promise<void> {
  await sql`drop schema if exists queue cascade`.execute(db);
  await migrate(db, queue);
  await sql`checkpoint`.execute(db);
}

/** Enqueues `count` jobs in batches; the milliseconds it took. */
export async function preload(db: BenchDatabase, count: number, batch = 10_000): Promise<number> {
  const began = performance.now();
  for (let first = 0; first < count; first += batch) {
    const items = Array.from({ length: Math.min(batch, count - first) }, (_, index) => ({
      kind: "noop" as const,
      payload: { id: first + index, hello: "world" },
    }));
    await queue.enqueueMany(db, items);
  }
  return performance.now() - began;
}
