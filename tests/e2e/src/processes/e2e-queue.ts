import { createQueue, job } from "@queue/core";

const backoff = { base: 1, cap: 50 };

/** What producers and workers of these tests share. */
export const queue = createQueue({
  jobs: {
    quick: job<{ n: number }>({ backoff }),
    /** Works for some time, and pays no attention to its signal. */
    work: job<{ ms: number; fails?: boolean }>({ backoff, maxAttempts: 3 }),
    /** Blocks its process. */
    spin: job<{ ms: number }>({ backoff }),
    /** Kills its process. */
    kill: job({ backoff, maxAttempts: 3 }),
    /** Writes into the ledger, in the transaction of its completion. */
    enter: job<{ entry: string; ms: number }>({ backoff, maxAttempts: 100 }),
    /** Fails, to be tried again much later. */
    later: job({ backoff: { base: "5m" } }),
  },
});
