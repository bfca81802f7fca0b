import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { openDatabase, queue } from "./chaos-queue.js";

const { CHAOS_URL: url, CHAOS_RATE: rate } = process.env;
if (url === undefined) throw new Error("CHAOS_URL says where to enqueue.");

class Rollback extends Error {}

const db = openDatabase(url, 4, "chaos producer");
let isStopping = false;
process.once("SIGTERM", () => {
  isStopping = true;
});

/** A business transaction: an order and its jobs, sometimes rolled back, sometimes only to a savepoint. */
async function placeOrder(): Promise<void> {
  const token = randomUUID();
  const chance = Math.random();
  await db.transaction().execute(async (trx) => {
    await trx.insertInto("orders").values({ token }).execute();
    const worksMs = Math.random() < 0.02 ? 1_500 + Math.random() * 2_000 : Math.random() * 40;
    const kinds =
      chance < 0.03 ? (["newer"] as const) : chance < 0.08 ? (["hopeless"] as const) : (["plain", "transactional", "once"] as const);
    await queue.enqueueMany(
      trx,
      kinds.map((kind) => ({ kind, payload: { token, worksMs }, options: { key: `${kind}-${token}` } })),
    );
    // The same again: a duplicate inserts nothing.
    if (chance > 0.9) await queue.enqueue(trx, "plain", { token, worksMs }, { key: `plain-${token}` });
    if (chance > 0.5 && chance < 0.62) throw new Rollback("the business transaction changes its mind");
  });
}

const pauseMs = 1_000 / Number(rate ?? 20);
while (!isStopping) {
  const began = performance.now();
  // Every failure is the application's to handle; here an order that failed is not placed.
  await placeOrder().catch(() => {});
  await pause(Math.max(0, pauseMs - (performance.now() - began)));
}
await db.destroy();
