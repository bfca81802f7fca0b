import { describe, expect, it } from "vitest";
import { s1Process } from "../measures/s1-process.js";
import { measureReport } from "./measure-report.js";
import { summarize } from "./summary.js";

const side = (...rates: readonly number[]) =>
  summarize(
    s1Process.metrics,
    rates.map((rate) => ({ rate })),
  );

describe("the report of a measure", () => {
  it("shows medians, spread and ratios, and says when a peer is faster and a bar is missed", () => {
    const summaries = { ours: side(9_000, 10_000, 12_000), "pg-boss, best": side(14_000, 15_000, 16_000) };
    const report = measureReport(s1Process, { summaries, rounds: {}, failures: {}, seconds: 7 }).join("\n");
    expect(report).toContain("10,000 (9,000 … 12,000)");
    expect(report).toContain("15,000 (14,000 … 16,000)  1.50 × ours");
    expect(report).toContain("≥ 2 × the best peer (pg-boss, best: 15,000 jobs/s): ours 0.67 ×, MISSED by 67 %");
    expect(report).toContain("≥ 0.7 × raw SQL: not measured in this run");
  });

  it("names a side that failed, and why", () => {
    const report = measureReport(s1Process, { summaries: {}, rounds: {}, failures: { "raw SQL": "no table\nat …" }, seconds: 1 });
    expect(report.join("\n")).toContain("raw SQL: FAILED: no table");
  });
});
