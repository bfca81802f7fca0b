import { setTimeout as delay } from "node:timers/promises";
import { postOrder } from "./post-order.js";
import type { Stage } from "./stage.js";

const pauseMs = 1_200;

/** Places an order every second or so, until the signal aborts. Resolves to the exit code. */
export async function runUntilStopped({ shop, narrator, print, paint }: Stage, signal: AbortSignal): Promise<number> {
  print(`An order comes in every second or so. ${paint("bold", "Ctrl-C")} ends it.\n`);
  while (!signal.aborted) {
    await narrator.order(postOrder(shop.url, Math.random));
    await delay(pauseMs * (0.5 + Math.random()), undefined, { signal }).catch(() => {
      // Aborted: the loop sees it.
    });
  }
  print("\nNo more orders. What runs is finished, what waits stays in the queue.");
  return 0;
}
