import { describe, expect, it } from "vitest";
import type { Bench } from "./bench.js";
import type { Measure } from "./measures/measure.js";
import { runMeasure } from "./run-measure.js";
import { quickSizes } from "./sizes.js";
import { variants } from "./variant.js";

const bench = { sizes: { ...quickSizes, rounds: 2 } } as Bench;

function measureThat(round: (label: string, turn: number) => number, closed: string[] = []): { measure: Measure; turns: string[] } {
  const turns: string[] = [];
  const measure: Measure = {
    id: "S0",
    title: "",
    detail: "",
    metrics: [{ key: "rate", name: "rate", unit: "jobs/s", better: "more" }],
    bars: [],
    takes: ({ side }) => side !== "bullmq",
    prepare: async (_bench, { label }) => ({
      async round() {
        turns.push(label);
        return { rate: round(label, turns.length) };
      },
      async close() {
        closed.push(label);
      },
    }),
  };
  return { measure, turns };
}

describe("a measure", () => {
  const chosen = variants.filter(({ side }) => ["ours", "raw-sql", "bullmq"].includes(side));

  it("is run in turn by the sides that take part in it, round after round", async () => {
    const { measure, turns } = measureThat((_label, turn) => turn);
    const { summaries } = await runMeasure(bench, measure, chosen, () => {});
    expect(turns).toEqual(["ours", "raw SQL", "ours", "raw SQL"]);
    expect(summaries["ours"]?.["rate"]).toMatchObject({ least: 1, most: 3, median: 2, rounds: 2 });
  });

  it("goes on without a side that fails, and says so instead of showing its figures", async () => {
    const closed: string[] = [];
    const { measure, turns } = measureThat((label) => {
      if (label === "raw SQL") throw new Error("broken");
      return 1;
    }, closed);
    const { summaries, failures } = await runMeasure(bench, measure, chosen, () => {});
    expect(turns).toEqual(["ours", "raw SQL", "ours"]);
    expect(failures).toEqual({ "raw SQL": "broken" });
    expect(Object.keys(summaries)).toEqual(["ours"]);
    expect(closed).toEqual(["ours", "raw SQL"]);
  });
});
