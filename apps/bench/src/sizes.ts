/** How much each measure does. */
export interface Sizes {
  readonly rounds: number;
  /** S1, S8: jobs of a round. */
  readonly jobs: number;
  /** How long a side may take for them before it is measured by what it did until then. */
  readonly budgetMs: number;
  /** S2, S5: jobs that are enqueued one at a time. */
  readonly latencySamples: number;
  readonly latencyBudgetMs: number;
  readonly arrivalMs: number;
  readonly heldRounds: number;
  readonly heldRoundJobs: number;
  readonly foreignJobs: number;
  readonly deepJobs: number;
  readonly deepClaimMs: number;
  readonly floodMs: number;
  readonly memoryJobs: number;
  /** After the start of workers that have nothing to do, before their database is watched. */
  readonly idleSettleMs: number;
  readonly idleMs: number;
  readonly idleWorkers: number;
}

export const fullSizes: Sizes = {
  rounds: 5,
  jobs: 100_000,
  budgetMs: 20_000,
  latencySamples: 200,
  latencyBudgetMs: 10_000,
  arrivalMs: 10_000,
  heldRounds: 50,
  heldRoundJobs: 20_000,
  foreignJobs: 1_000_000,
  deepJobs: 10_000_000,
  deepClaimMs: 3_000,
  floodMs: 5_000,
  memoryJobs: 1_000_000,
  // Pools close after ten seconds what only the start needed.
  idleSettleMs: 15_000,
  idleMs: 30_000,
  idleWorkers: 10,
};

/** For a first look in under five minutes: too small for the bars of S4, S5, S6 and S10. */
export const quickSizes: Sizes = {
  rounds: 1,
  jobs: 20_000,
  budgetMs: 2_500,
  latencySamples: 40,
  latencyBudgetMs: 2_500,
  arrivalMs: 1_500,
  heldRounds: 4,
  heldRoundJobs: 10_000,
  foreignJobs: 100_000,
  deepJobs: 200_000,
  deepClaimMs: 1_000,
  floodMs: 1_500,
  memoryJobs: 40_000,
  idleSettleMs: 2_000,
  idleMs: 3_000,
  idleWorkers: 10,
};
