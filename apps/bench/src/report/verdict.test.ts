import { describe, expect, it } from "vitest";
import type { Metric } from "../metric.js";
import { judge, type Summaries } from "./verdict.js";
import { summarize } from "./summary.js";

const rate: Metric = { key: "rate", name: "processed", unit: "jobs/s", better: "more" };
const wait: Metric = { key: "wait", name: "p50", unit: "ms", better: "less" };

function figures(values: Readonly<Record<string, Readonly<Record<string, number>>>>): Summaries {
  return Object.fromEntries(Object.entries(values).map(([label, readings]) => [label, summarize([rate, wait], [readings])]));
}

describe("a bar", () => {
  it("is held against the better peer, at whichever of its settings is the better", () => {
    const summaries = figures({
      ours: { rate: 30_000 },
      "graphile-worker, best": { rate: 15_000 },
      "pg-boss, defaults": { rate: 16_000 },
      "raw SQL": { rate: 40_000 },
    });
    const verdict = judge({ metric: "rate", is: "at least", limit: 2, against: "best peer" }, rate, summaries);
    expect(verdict).toMatchObject({ target: 32_000, isMet: false, missedBy: 2_000 / 32_000 });
    expect(verdict.against?.variant.label).toBe("pg-boss, defaults");
  });

  it("takes the smallest figure for the best where less is better", () => {
    const summaries = figures({ ours: { wait: 2 }, "graphile-worker, best": { wait: 4 }, "pg-boss, best": { wait: 5 } });
    expect(judge({ metric: "wait", is: "at most", limit: 0.6, against: "best peer" }, wait, summaries)).toMatchObject({
      target: 2.4,
      isMet: true,
      missedBy: 0,
    });
  });

  it("may be a figure of its own", () => {
    expect(judge({ metric: "wait", is: "at most", limit: 10 }, wait, figures({ ours: { wait: 15 } }))).toMatchObject({
      isMet: false,
      missedBy: 0.5,
    });
  });

  it("takes no figure for the best that is only a lower bound", () => {
    const summaries = {
      ours: summarize([wait], [{ wait: 2 }]),
      "graphile-worker, best": summarize([wait], [{ wait: 8 }]),
      "pg-boss, defaults": summarize([wait], [{ wait: { atLeast: 4 } }]),
    };
    const bar = { metric: "wait", is: "at most", limit: 0.5, against: "best peer" } as const;
    expect(judge(bar, wait, summaries)).toMatchObject({ target: 4, isMet: true });
    expect(judge(bar, wait, { ...summaries, ours: summarize([wait], [{ wait: { atLeast: 2 } }]) }).isMet).toBe(false);
  });

  it("is not judged when what it is held against was not measured", () => {
    const verdict = judge({ metric: "rate", is: "at least", limit: 0.7, against: "raw SQL" }, rate, figures({ ours: { rate: 1 } }));
    expect(verdict.isMet).toBeUndefined();
  });

  it("is never held against BullMQ, whose durability is another", () => {
    const summaries = figures({ ours: { rate: 10 }, "BullMQ on Redis, best": { rate: 100 }, "pg-boss, best": { rate: 5 } });
    expect(judge({ metric: "rate", is: "at least", limit: 2, against: "best peer" }, rate, summaries).target).toBe(10);
  });
});
