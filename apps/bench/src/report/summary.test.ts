import { describe, expect, it } from "vitest";
import { summarize } from "./summary.js";

const metrics = [{ key: "wait", name: "p50", unit: "ms", better: "less" }] as const;

describe("the summary of a side", () => {
  it("is the median of its rounds, with the least and the most", () => {
    expect(summarize(metrics, [{ wait: 5 }, { wait: 1 }, { wait: 9 }])).toEqual({
      wait: { median: 5, least: 1, most: 9, isAtLeast: false, rounds: 3 },
    });
  });

  it("says that a figure is a lower bound when some round was not waited for", () => {
    expect(summarize(metrics, [{ wait: 5 }, { wait: { atLeast: 100 } }])["wait"]).toMatchObject({ most: 100, isAtLeast: true });
  });

  it("leaves out what a side does not have, and what came to nothing", () => {
    expect(summarize(metrics, [{}, {}])).toEqual({});
    expect(summarize(metrics, [{ wait: Number.NaN }])).toEqual({});
  });
});
