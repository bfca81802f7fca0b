import { createQueue, type InferKind, job } from "@queue/core";
import * as z from "zod";

/** Far shorter than the default, so that somebody who watches the shop sees retries within seconds. */
const backoff = { base: "200ms", cap: "5s" } as const;

export const queue = createQueue({
  jobs: {
    "order.send-receipt": job({
      payload: z.object({ orderId: z.string().min(1), email: z.email() }),
      lane: "mail",
      timeout: "10s",
      backoff,
    }),
    "order.notify-warehouse": job({
      payload: z.object({ orderId: z.string().min(1) }),
      lane: "warehouse",
      maxAttempts: 4,
      backoff,
    }),
    "order.ask-review": job({
      payload: z.object({ orderId: z.string().min(1) }),
      lane: "reviews",
      timeout: "10s",
      backoff,
    }),
  },
});

export type ShopQueue = typeof queue;

/** A kind of job that an order has. */
export type OrderJobKind = InferKind<ShopQueue>;

/** The jobs of an order, in the order in which they are due. */
export const orderJobKinds = [
  "order.send-receipt",
  "order.notify-warehouse",
  "order.ask-review",
] as const satisfies readonly OrderJobKind[];
