import type { Bench } from "../bench.js";
import type { About } from "../machine/about.js";
import { type LineChart, lineChart } from "../report/line-chart.js";
import { showFigure } from "../report/show-figure.js";
import { allSeries, growthSizes, quickGrowthSizes, type Series } from "./all-series.js";
import { type GrowthReading, measureGrowth } from "./growth-point.js";

export interface GrowthRun {
  readonly bench: Bench;
  readonly about: About;
  readonly isQuick: boolean;
  readonly series: readonly string[];
  readonly draw: ((name: string, svg: string) => Promise<void>) | undefined;
  progress(line: string): void;
  say(lines: readonly string[]): void;
}

interface Point {
  readonly at: number;
  readonly reading: GrowthReading;
}

/** Measures the series one after the other, point by point, each point in a database of its own. */
export async function runGrowth(run: GrowthRun): Promise<Readonly<Record<string, readonly Point[]>>> {
  const unknown = run.series.find((name) => !allSeries.some((series) => series.name === name));
  if (unknown !== undefined) {
    throw new Error(`--series ${unknown} is unknown: it is one or more of ${allSeries.map(({ name }) => name).join(",")}.`);
  }
  const results: Record<string, readonly Point[]> = {};
  for (const series of allSeries.filter(({ name }) => run.series.length === 0 || run.series.includes(name))) {
    const points: Point[] = [];
    for (const at of run.isQuick ? series.quickPoints : series.points) {
      run.progress(`${series.name}: ${at.toLocaleString("en-US")}`);
      points.push({ at, reading: await measureGrowth(run.bench, series.state(at), run.isQuick ? quickGrowthSizes : growthSizes) });
    }
    run.progress("");
    run.say(["", ...report(series, points)]);
    await run.draw?.(`growth-${series.name}`, lineChart(chart(series, points), run.about));
    results[series.name] = points;
  }
  return results;
}

function report({ title, detail, x }: Series, points: readonly Point[]): readonly string[] {
  const columns = (cells: readonly string[]) => `    ${cells.map((cell) => cell.padStart(20)).join("")}`;
  return [
    title,
    `    ${detail}`,
    columns([x, "jobs/s", "claim p50, ms", "claim p99, ms", "start p50, ms", "start p99, ms"]),
    ...points.map(({ at, reading: { jobsPerSecond, claimP50, claimP99, startP50, startP99 } }) =>
      columns([at.toLocaleString("en-US"), ...[jobsPerSecond, claimP50, claimP99, startP50, startP99].map(showFigure)]),
    ),
  ];
}

function chart({ title, detail, x }: Series, points: readonly Point[]): LineChart {
  const line = (name: string, value: (reading: GrowthReading) => number) => ({
    name,
    points: points.map(({ at, reading }) => [at, value(reading)] as const),
  });
  return {
    title,
    detail,
    x,
    panels: [
      { title: "Throughput", unit: "jobs/s", lines: [line("", ({ jobsPerSecond }) => jobsPerSecond)] },
      { title: "A claim", unit: "ms", lines: [line("p50", ({ claimP50 }) => claimP50), line("p99", ({ claimP99 }) => claimP99)] },
      {
        title: "Start latency, idle",
        unit: "ms",
        lines: [line("p50", ({ startP50 }) => startP50), line("p99", ({ startP99 }) => startP99)],
      },
    ],
  };
}
