import { createQueue, job, QueueError } from "@queue/core";
import { migrate } from "@queue/core/migrations";
import type { Executor } from "@queue/core/adapter";
import type { Kysely } from "kysely";

const queue = createQueue({ jobs: { "order.ship": job<{ orderId: string }>() } });

export async function use(db: Kysely<{ orders: { id: string } }>, other: Executor): Promise<string> {
  await migrate(db, queue);
  const { id } = await queue.enqueue(db, "order.ship", { orderId: "1" }, { key: "ship-1", delay: "10m" });
  // @ts-expect-error a payload that is not the kind's
  await queue.enqueue(other, "order.ship", { orderId: 1 }).catch((error: unknown) => QueueError.is(error, "INVALID_PAYLOAD"));
  return id;
}
