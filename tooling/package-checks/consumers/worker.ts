import { createQueue, job } from "@queue/core";
import { createWorker, snooze } from "@queue/worker";
import type { Kysely } from "kysely";

const queue = createQueue({ jobs: { "order.ship": job<{ orderId: string }>() } });

export async function work(db: Kysely<{ orders: { id: string } }>): Promise<void> {
  const worker = createWorker({
    queue,
    db,
    concurrency: 20,
    handlers: { "order.ship": async (order) => (order.payload.orderId === "" ? snooze("5m") : undefined) },
  });
  // @ts-expect-error a kind that the queue does not have
  createWorker({ queue, db, handlers: { "order.return": async () => undefined } });
  await worker.run();
}
