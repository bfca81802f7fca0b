import type { BenchDatabase } from "../bench-queue.js";

/** What a measure works with. */
export interface BenchContext {
  readonly db: BenchDatabase;
  readonly url: string;
  /** Jobs in a round. */
  readonly jobs: number;
}

/** One figure of one round, with its unit. */
export interface Reading {
  readonly name: string;
  readonly unit: "jobs/s" | "ms" | "bytes/job" | "µs/job";
  readonly value: number;
}

export interface Measure {
  readonly name: string;
  /** One round. The sides of a measure are run in turn, so that a noisy minute hits all of them. */
  run(context: BenchContext): Promise<readonly Reading[]>;
}
