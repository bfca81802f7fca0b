import type { Bar, Metric } from "../metric.js";
import { postgresPeers, type Variant, variants } from "../variant.js";
import type { Summary } from "./summary.js";

export interface Verdict {
  readonly bar: Bar;
  /** The bar in the unit of the metric, as this run has it; undefined when what it is held against was not measured. */
  readonly target: number | undefined;
  readonly against: { readonly variant: Variant; readonly median: number } | undefined;
  readonly ours: number | undefined;
  readonly isMet: boolean | undefined;
  /** By which share of the target it is missed. */
  readonly missedBy: number;
}

/** Medians by the label of the variant, then by the key of the metric. */
export type Summaries = Readonly<Record<string, Readonly<Record<string, Summary>>>>;

export function judge(bar: Bar, metric: Metric, summaries: Summaries): Verdict {
  const summary = summaries["ours"]?.[metric.key];
  const ours = summary?.median;
  const against = bar.against === undefined ? undefined : findAgainst(bar.against, metric, summaries);
  const target = bar.against === undefined ? bar.limit : against === undefined ? undefined : bar.limit * against.median;
  if (ours === undefined || target === undefined) return { bar, target, against, ours, isMet: undefined, missedBy: 0 };
  // Of a figure that is a lower bound it cannot be said that it stays under anything.
  const isMet = bar.is === "at least" ? ours >= target : ours <= target && summary?.isAtLeast !== true;
  return { bar, target, against, ours, isMet, missedBy: isMet ? 0 : Math.abs(ours - target) / target };
}

/** The best peer is the best at any of its settings. One that was not waited for is the best of nothing: its figure is a bound. */
function findAgainst(against: "best peer" | "raw SQL", metric: Metric, summaries: Summaries) {
  const candidates = variants
    .filter(({ side }) => (against === "raw SQL" ? side === "raw-sql" : postgresPeers.includes(side)))
    .flatMap((variant) => {
      const summary = summaries[variant.label]?.[metric.key];
      return summary === undefined || summary.isAtLeast ? [] : [{ variant, median: summary.median }];
    });
  return candidates.sort((a, b) => (metric.better === "more" ? b.median - a.median : a.median - b.median))[0];
}
