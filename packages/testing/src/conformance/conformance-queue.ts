import { createQueue, job, type JsonValue } from "@queue/core";

/** The kinds that the suite works with. Retries are due at once, so that `runUntilIdle` runs them. */
export function createConformanceQueue(schema: string) {
  return createQueue({
    schema,
    jobs: {
      note: job<JsonValue>({ lane: "notes" }),
      errand: job<{ n: number }>({ lane: "errands", maxAttempts: 3, backoff: { base: 0, cap: 0 } }),
      chore: job({ lane: "chores", priority: 7 }),
    },
  });
}

export type ConformanceQueue = ReturnType<typeof createConformanceQueue>;
