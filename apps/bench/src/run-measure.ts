import type { Bench } from "./bench.js";
import type { Readings } from "./metric.js";
import type { Measure, Prepared } from "./measures/measure.js";
import type { Summaries } from "./report/verdict.js";
import { summarize } from "./report/summary.js";
import type { Variant } from "./variant.js";

export interface MeasureResult {
  readonly summaries: Summaries;
  /** Readings of each round, by the label of the side. */
  readonly rounds: Readonly<Record<string, readonly Readings[]>>;
  /** Sides that failed, and why. They have no figures. */
  readonly failures: Readonly<Record<string, string>>;
  readonly seconds: number;
}

interface Turn {
  readonly variant: Variant;
  readonly prepared: Prepared;
  readonly readings: Readings[];
}

/** All sides take turns, round after round, so that a noisy minute of the machine hits all of them. */
export async function runMeasure(
  bench: Bench,
  measure: Measure,
  variants: readonly Variant[],
  progress: (line: string) => void,
): Promise<MeasureResult> {
  const began = performance.now();
  const failures: Record<string, string> = {};
  const turns: Turn[] = [];
  const attempt = async ({ label }: Variant, act: () => Promise<void>) => {
    try {
      await act();
    } catch (error) {
      failures[label] = error instanceof Error ? error.message : String(error);
    }
  };
  try {
    for (const variant of variants.filter((candidate) => measure.takes(candidate))) {
      progress(`${measure.id}: ${variant.label}: preparing`);
      await attempt(variant, async () => {
        turns.push({ variant, prepared: await measure.prepare(bench, variant), readings: [] });
      });
    }
    for (let round = 1; round <= bench.sizes.rounds; round++) {
      for (const { variant, prepared, readings } of turns) {
        if (variant.label in failures) continue;
        progress(`${measure.id}: ${variant.label}: round ${round} of ${bench.sizes.rounds}`);
        await attempt(variant, async () => {
          readings.push(await prepared.round());
        });
      }
    }
  } finally {
    for (const { prepared } of turns) await prepared.close();
  }
  const sound = turns.filter(({ variant }) => !(variant.label in failures));
  return {
    summaries: Object.fromEntries(sound.map(({ variant, readings }) => [variant.label, summarize(measure.metrics, readings)])),
    rounds: Object.fromEntries(sound.map(({ variant, readings }) => [variant.label, readings])),
    failures,
    seconds: Math.round((performance.now() - began) / 1_000),
  };
}
