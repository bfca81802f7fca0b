import { setTimeout as delay } from "node:timers/promises";
import { seededRandom } from "@shop/database";
import { postOrder } from "./post-order.js";
import { checkOutcome } from "./settle/check-outcome.js";
import { readOutcome } from "./settle/read-outcome.js";
import { renderSummary } from "./settle/render-summary.js";
import { waitUntilSettled } from "./settle/wait-until-settled.js";
import type { Stage } from "./stage.js";

const orderCount = 40;
/** Between two orders, so that the worker is now busy and now idle. */
const pauseMs = 50;
const settleDeadlineMs = 20_000;

/**
 * Places a fixed row of orders, waits until all their jobs are done or dead, and prints what became of them. Resolves to the
 * exit code: 0 when every promise was kept, 1 when one was broken, 130 when somebody stopped it.
 */
export async function runOnce({ shop, narrator, print, paint }: Stage, signal: AbortSignal): Promise<number> {
  print(`${orderCount} orders come in. The first event of each sort is told, the others are counted.\n`);
  const random = seededRandom("once");
  const orderIds: string[] = [];
  let refused = 0;
  try {
    for (let count = 0; count < orderCount; count++) {
      const order = await narrator.order(postOrder(shop.url, random));
      if (order.isPlaced) orderIds.push(order.orderId);
      else refused += 1;
      await delay(pauseMs, undefined, { signal });
    }
    await waitUntilSettled(shop.db, orderIds, { deadlineMs: settleDeadlineMs, signal });
  } catch (error) {
    if (signal.aborted) return 130;
    throw error;
  }
  await narrator.silence();
  const outcome = await readOutcome(shop.db, orderIds);
  const checks = checkOutcome(orderIds.length, outcome);
  print(`\n${renderSummary({ orders: orderIds.length, refused, outcome, checks }, paint)}`);
  return checks.every((check) => check.isKept) ? 0 : 1;
}
