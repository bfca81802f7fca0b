import type { Reading } from "./measures/measure.js";

export interface Summary {
  readonly name: string;
  readonly unit: Reading["unit"];
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** Medians with spread, over the rounds. */
export function summarize(rounds: readonly (readonly Reading[])[]): Summary[] {
  const first = rounds[0] ?? [];
  return first.map(({ name, unit }, index) => {
    const values = rounds.flatMap((round) => round[index]?.value ?? []).sort((a, b) => a - b);
    return {
      name,
      unit,
      median: values[Math.floor(values.length / 2)] ?? Number.NaN,
      least: values[0] ?? Number.NaN,
      most: values.at(-1) ?? Number.NaN,
    };
  });
}

export function printSummary(measure: string, summaries: readonly Summary[]): void {
  console.log(`\n${measure}`);
  for (const { name, unit, median, least, most } of summaries) {
    console.log(`  ${name.padEnd(42)} ${show(median).padStart(10)} ${unit.padEnd(9)}  (${show(least)} … ${show(most)})`);
  }
}

function show(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en-US") : value.toFixed(2);
}
