import type { Metric, Readings } from "../metric.js";
import { median } from "../quantile.js";

/** A metric of one side over the rounds. */
export interface Summary {
  readonly median: number;
  readonly least: number;
  readonly most: number;
  /** Some round was not waited for to its end: the figures are at least these. */
  readonly isAtLeast: boolean;
  readonly rounds: number;
}

/** By the key of the metric; metrics that the side does not have are left out. */
export function summarize(metrics: readonly Metric[], rounds: readonly Readings[]): Readonly<Record<string, Summary>> {
  const summaries: Record<string, Summary> = {};
  for (const { key } of metrics) {
    const readings = rounds.flatMap((round) => round[key] ?? []);
    const values = readings.map((reading) => (typeof reading === "number" ? reading : reading.atLeast));
    if (values.length === 0 || values.some(Number.isNaN)) continue;
    summaries[key] = {
      median: median(values),
      least: Math.min(...values),
      most: Math.max(...values),
      isAtLeast: readings.some((reading) => typeof reading !== "number"),
      rounds: values.length,
    };
  }
  return summaries;
}
