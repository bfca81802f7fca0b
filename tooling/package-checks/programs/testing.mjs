import { createQueue, job } from "@queue/core";
import { createTestQueue, expectEnqueued } from "@queue/testing";

const queue = createQueue({ jobs: { "order.ship": job() } });
const shop = await createTestQueue(queue);
await shop.db.transaction().execute((trx) => queue.enqueue(trx, "order.ship", { orderId: "1" }, { delay: "3d" }));
await expectEnqueued(shop.db, queue, "order.ship", { orderId: "1" });
await shop.clock.advance("3d");
const worked = [];
await shop.drain({ "order.ship": async ({ payload }) => void worked.push(payload.orderId) });
await shop[Symbol.asyncDispose]();
if (worked.join() !== "1") throw new Error(`Worked were: ${worked.join()}`);
console.log("worked");
