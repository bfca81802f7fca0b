import type { Metric } from "../metric.js";
import type { Measure } from "../measures/measure.js";
import type { MeasureResult } from "../run-measure.js";
import type { Bar } from "../metric.js";
import { judge, type Summaries, type Verdict } from "./verdict.js";
import { showFigure } from "./show-figure.js";
import type { Summary } from "./summary.js";

/** The table of a measure, and its bars, as lines of text. */
export function measureReport(measure: Measure, { summaries, failures, seconds }: MeasureResult): readonly string[] {
  const lines = [`${measure.id}  ${measure.title} (took ${seconds} s)`, `    ${measure.detail}`, ""];
  const header = ["", ...measure.metrics.map(({ name, unit }) => `${name}, ${unit}`)];
  const rows = Object.entries(summaries).map(([label, values]) => [
    label,
    ...measure.metrics.map((metric) => cell(metric, label, values[metric.key], summaries)),
  ]);
  lines.push(...table([header, ...rows]).map((line) => `    ${line}`), "");
  for (const [label, message] of Object.entries(failures)) lines.push(`    ${label}: FAILED: ${message.split("\n")[0] ?? ""}`);
  lines.push(...measure.bars.map((bar) => `    ${verdictText(measure, bar, summaries)}`));
  return lines;
}

/** "28,151 (25,810 … 30,533) 1.69 ×": the median, its spread, and how it stands to ours. */
function cell(metric: Metric, label: string, summary: Summary | undefined, summaries: Summaries): string {
  if (summary === undefined) return "–";
  const ours = summaries["ours"]?.[metric.key];
  const spread = summary.rounds > 1 ? ` (${showFigure(summary.least)} … ${showFigure(summary.most)})` : "";
  const ratio =
    label === "ours" || ours === undefined || ours.median === 0 || metric.unit === "×"
      ? ""
      : `  ${showFigure(summary.median / ours.median)} × ours`;
  return `${summary.isAtLeast ? "≥ " : ""}${showFigure(summary.median)}${spread}${ratio}`;
}

function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join("   ")
      .trimEnd(),
  );
}

/** "bar: processed ≥ 2.00 × the best peer (pg-boss, best: 17,006): ours 1.69 ×, missed by 15 %". */
export function verdictText(measure: Measure, bar: Bar, summaries: Summaries): string {
  const metric = measure.metrics.find(({ key }) => key === bar.metric);
  if (metric === undefined) throw new Error(`${measure.id} has no metric ${bar.metric}.`);
  const verdict = judge(bar, metric, summaries);
  const sign = bar.is === "at least" ? "≥" : "≤";
  const unit = metric.unit === "×" ? "" : ` ${metric.unit}`;
  const limit =
    bar.against === undefined
      ? `${bar.limit.toLocaleString("en-US")}${unit}`
      : `${bar.limit} × ${bar.against === "best peer" ? "the best peer" : "raw SQL"}${heldAgainst(verdict, unit)}`;
  return `bar: ${metric.name} ${sign} ${limit}: ${outcome(verdict, unit)}`;
}

function heldAgainst({ against }: Verdict, unit: string): string {
  return against === undefined ? "" : ` (${against.variant.label}: ${showFigure(against.median)}${unit})`;
}

function outcome({ bar, ours, against, isMet, missedBy }: Verdict, unit: string): string {
  if (ours === undefined || isMet === undefined) return "not measured in this run";
  const value =
    against === undefined || bar.against === undefined ? `${showFigure(ours)}${unit}` : `${showFigure(ours / against.median)} ×`;
  return `ours ${value}, ${isMet ? "met" : `MISSED by ${Math.max(1, Math.round(missedBy * 100))} %`}`;
}
