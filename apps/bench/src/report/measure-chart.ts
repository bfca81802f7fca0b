import { type About, aboutLines } from "../machine/about.js";
import type { Metric } from "../metric.js";
import type { Measure } from "../measures/measure.js";
import { judge, type Summaries } from "./verdict.js";
import { verdictText } from "./measure-report.js";
import { showFigure } from "./show-figure.js";
import type { Summary } from "./summary.js";
import { colours, line, picture, rectangle, text, wrap } from "./svg.js";

const width = 860;
const margin = 20;
const labelWidth = 200;
const barWidth = 430;
const rowHeight = 22;
const lineHeight = 16;
const mostTimesOurs = 8;

/** One chart a measure: a panel for each metric, a row for each side, whiskers from the least to the most, dashed: the bar. */
export function measureChart(measure: Measure, summaries: Summaries, about: About): string {
  const parts: string[] = [];
  let y = margin + 12;
  parts.push(text(margin, y, `${measure.id}  ${measure.title}`, { size: 16, weight: "bold" }));
  for (const part of wrap(measure.detail, 125)) parts.push(text(margin, (y += lineHeight), part, { fill: colours.faint }));
  y += 10;
  for (const metric of measure.metrics) {
    const rows = Object.entries(summaries).flatMap(([label, values]) => {
      const summary = values[metric.key];
      return summary === undefined ? [] : [{ label, summary }];
    });
    if (rows.length === 0) continue;
    parts.push(...panel(metric, rows, targetOf(measure, metric, summaries), (y += 18)));
    y += rows.length * rowHeight + 14;
  }
  for (const bar of measure.bars) {
    parts.push(text(margin, (y += lineHeight), verdictText(measure, bar, summaries), { fill: colours.text }));
  }
  y += 8;
  for (const part of aboutLines(about).flatMap((whole) => wrap(whole, 140))) {
    parts.push(text(margin, (y += lineHeight - 2), part, { size: 10, fill: colours.faint }));
  }
  return picture(width, y + margin, `${measure.id}: ${measure.title}`, parts);
}

interface Row {
  readonly label: string;
  readonly summary: Summary;
}

function panel(metric: Metric, rows: readonly Row[], targets: readonly number[], top: number): readonly string[] {
  const left = margin + labelWidth;
  const most = largestShown(rows, targets);
  const at = (value: number) => left + Math.min(value / most, 1) * barWidth;
  const parts = [text(margin, top, `${metric.name}, ${metric.unit} (${metric.better} is better)`, { weight: "bold" })];
  rows.forEach(({ label, summary }, index) => {
    const y = top + 10 + index * rowHeight;
    const middle = y + rowHeight / 2 - 2;
    const fill = label === "ours" ? colours.ours : colours.other;
    parts.push(
      text(left - 8, middle + 4, label, { anchor: "end" }),
      rectangle(left, y + 2, at(summary.median) - left, rowHeight - 8, fill),
      line(at(summary.least), middle, at(summary.most), middle, colours.text),
      text(Math.max(at(summary.most), at(summary.median)) + 6, middle + 4, figure(summary), { size: 11, fill: colours.faint }),
    );
    // A bar that is longer than the panel is broken, and its figure says how long it is.
    if (summary.median > most) parts.push(rectangle(left + barWidth - 30, y + 2, 6, rowHeight - 8, "#ffffff"));
  });
  for (const target of targets.filter((value) => value <= most)) {
    parts.push(line(at(target), top + 8, at(target), top + 10 + rows.length * rowHeight, colours.bar, "4 3"));
  }
  return parts;
}

/** The panel is as wide as the largest figure, unless that is many times ours: then nothing could be told from the rest. */
function largestShown(rows: readonly Row[], targets: readonly number[]): number {
  const ours = rows.find(({ label }) => label === "ours")?.summary.most ?? Infinity;
  const figures = [...rows.map(({ summary }) => summary.most), ...targets];
  return Math.max(...figures.filter((value) => value <= ours * mostTimesOurs), Number.MIN_VALUE);
}

function figure({ median, least, most, isAtLeast, rounds }: Summary): string {
  const spread = rounds > 1 ? ` (${showFigure(least)} … ${showFigure(most)})` : "";
  return `${isAtLeast ? "≥ " : ""}${showFigure(median)}${spread}`;
}

function targetOf(measure: Measure, metric: Metric, summaries: Summaries): readonly number[] {
  return measure.bars.filter((bar) => bar.metric === metric.key).flatMap((bar) => judge(bar, metric, summaries).target ?? []);
}
