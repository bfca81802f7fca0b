import { createQueue, job } from "@queue/core";
import { createTestQueue, expectEnqueued } from "@queue/testing";

const queue = createQueue({ jobs: { "order.ship": job<{ orderId: string }>() } });

export async function first(): Promise<void> {
  await using shop = await createTestQueue(queue);
  await queue.enqueue(shop.db, "order.ship", { orderId: "1" }, { delay: "3d" });
  // @ts-expect-error a payload that is not the kind's
  await expectEnqueued(shop.db, queue, "order.ship", { orderId: 1 });
  await shop.clock.advance("3d");
  await shop.drain({ "order.ship": async ({ payload }) => void payload.orderId.trim() });
}
