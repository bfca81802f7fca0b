import { createQueue, job } from "@queue/core";

/** The kinds that the tests of this package work with. */
export const queue = createQueue({
  jobs: {
    "order.receipt": job<{ id: string; lines?: { sku: string; count: number }[] }>({ lane: "mail" }),
    "order.remind": job<{ id: string }>({ backoff: { base: "10m", cap: "1h" }, maxAttempts: 3 }),
    tick: job(),
  },
});
