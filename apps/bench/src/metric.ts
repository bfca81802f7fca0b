export type Unit = "jobs/s" | "transactions/s" | "ms" | "bytes/job" | "MB" | "×" | "% of a core";

export interface Metric {
  readonly key: string;
  readonly name: string;
  readonly unit: Unit;
  readonly better: "more" | "less";
}

/** A figure; `atLeast` when the bench did not wait any longer. */
export type Reading = number | { readonly atLeast: number };

/** By the key of the metric; what a side does not have is left out. */
export type Readings = Readonly<Record<string, Reading>>;

/** What a metric of ours is to reach. */
export interface Bar {
  readonly metric: string;
  readonly is: "at least" | "at most";
  /** A multiple of what it is held against, or the figure itself. */
  readonly limit: number;
  readonly against?: "best peer" | "raw SQL";
}
