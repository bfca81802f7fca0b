import { describe, expect, it } from "vitest";
import type { About } from "../machine/about.js";
import { s2IdleLatency } from "../measures/s2-idle-latency.js";
import { lineChart } from "./line-chart.js";
import { measureChart } from "./measure-chart.js";
import { summarize } from "./summary.js";

const about: About = {
  date: "2026-11-29T10:00:00.000Z",
  machine: { cores: 2, cpu: "A & B <processor>", memoryGiB: 24, system: "linux" },
  node: "v24.0.0",
  postgres: "18.4",
  postgresSettings: { fsync: "on" },
  redis: null,
  versions: { pg: "8.0.0" },
  rounds: 5,
  isQuick: false,
};
const side = (p50: number, p99: number) => summarize(s2IdleLatency.metrics, [{ p50, p99 }]);

describe("the chart of a measure", () => {
  it("has every side with its figure, the bars, and where it was measured", () => {
    const svg = measureChart(s2IdleLatency, { ours: side(2, 6), "pg-boss, best": side(4, 9) }, about);
    for (const part of ["ours", "pg-boss, best", "9.00", "fsync=on", "2026-11-29", "stroke-dasharray"]) expect(svg).toContain(part);
    expect(svg).toContain("A &amp; B &lt;processor&gt;");
  });

  it("breaks a bar that is many times ours, and keeps its figure", () => {
    const svg = measureChart(s2IdleLatency, { ours: side(2, 6), "pg-boss, defaults": side(2_000, 3_000) }, about);
    const widths = [...svg.matchAll(/<rect x="220" [^>]*width="([\d.]+)"/g)].map(([, width]) => Number(width));
    expect(Math.max(...widths)).toBe(430);
    expect(widths[0]).toBeGreaterThan(100);
    expect(svg).toContain("3,000");
  });
});

describe("a chart of growing work", () => {
  it("has a point for each measurement, on a logarithmic axis", () => {
    const points = [10, 100, 1_000].map((x) => [x, 5] as const);
    const svg = lineChart(
      { title: "T", detail: "D", x: "jobs", panels: [{ title: "P", unit: "ms", lines: [{ name: "p50", points }] }] },
      about,
    );
    const xs = [...svg.matchAll(/<circle cx="([\d.]+)"/g)].map(([, x]) => Number(x));
    expect(xs).toHaveLength(3);
    expect((xs[1] ?? 0) - (xs[0] ?? 0)).toBeCloseTo((xs[2] ?? 0) - (xs[1] ?? 0), 0);
  });
});
