import { type Bench, onStage, type Stage, type StageOptions } from "../bench.js";
import type { Bar, Metric, Readings } from "../metric.js";
import type { Variant } from "../variant.js";

export interface Prepared {
  round(): Promise<Readings>;
  close(): Promise<void>;
}

/** One of S1 to S10. */
export interface Measure {
  readonly id: string;
  readonly title: string;
  /** What is done, in a sentence or two. */
  readonly detail: string;
  readonly metrics: readonly Metric[];
  readonly bars: readonly Bar[];
  takes(variant: Variant): boolean;
  /** What is done once for a side, before its rounds. */
  prepare(bench: Bench, variant: Variant): Promise<Prepared>;
}

type Round = (stage: Stage, bench: Bench, variant: Variant) => Promise<Readings>;

/** For a measure whose every round begins with an empty database. */
export function afresh(options: StageOptions, round: Round): Measure["prepare"] {
  return async (bench, variant) => ({
    round: () => onStage(bench, variant, options, (stage) => round(stage, bench, variant)),
    close: async () => {},
  });
}

export const everyVariant = (): boolean => true;
export const onPostgres = ({ side }: Variant): boolean => side !== "bullmq";
export const bestOnPostgres = (variant: Variant): boolean => onPostgres(variant) && variant.settings === "best";
