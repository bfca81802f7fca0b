import type { GrowthSizes, GrowthState } from "./growth-point.js";

/** What grows, and how far. */
export interface Series {
  readonly name: string;
  readonly title: string;
  readonly detail: string;
  readonly x: string;
  readonly points: readonly number[];
  readonly quickPoints: readonly number[];
  state(point: number): GrowthState;
}

export const growthSizes: GrowthSizes = { jobs: 50_000, payloadBudgetBytes: 200_000_000, latencySamples: 200, budgetMs: 5_000 };
export const quickGrowthSizes: GrowthSizes = { jobs: 4_000, payloadBudgetBytes: 40_000_000, latencySamples: 30, budgetMs: 1_000 };

export const allSeries: readonly Series[] = [
  {
    name: "backlog",
    title: "Growing backlog",
    detail: "Claims and throughput with so many jobs due; start latency of an idle worker with so many due tomorrow.",
    x: "jobs queued",
    points: [1_000, 10_000, 100_000, 1_000_000, 10_000_000],
    quickPoints: [1_000, 10_000, 100_000],
    state: (backlog) => ({ backlog }),
  },
  {
    name: "archive",
    title: "Growing archive",
    detail: "With so many jobs done and kept.",
    x: "jobs in the archive",
    points: [1_000, 10_000, 100_000, 1_000_000, 10_000_000],
    quickPoints: [1_000, 10_000, 100_000],
    state: (archived) => ({ archived }),
  },
  {
    name: "processes",
    title: "More worker processes",
    detail: "All on this machine, beside the server: what matters is that more of them do no harm.",
    x: "worker processes",
    points: [1, 2, 4, 8, 16],
    quickPoints: [1, 2, 4],
    state: (processes) => ({ processes }),
  },
  {
    name: "lanes",
    title: "More lanes",
    detail: "As many lanes, each with a kind of its own; the jobs are spread over all of them.",
    x: "lanes",
    points: [1, 10, 100, 1_000],
    quickPoints: [1, 10, 100],
    state: (lanes) => ({ lanes }),
  },
  {
    name: "kinds",
    title: "More kinds",
    detail: "As many kinds in one lane; the jobs are spread over all of them.",
    x: "kinds",
    points: [1, 10, 100, 1_000],
    quickPoints: [1, 10, 100],
    state: (kinds) => ({ kinds }),
  },
  {
    name: "payload",
    title: "Larger payloads",
    detail: "Payloads that compress well, as repeated text does.",
    x: "bytes of payload",
    points: [10, 100, 1_000, 10_000, 100_000],
    quickPoints: [10, 1_000, 100_000],
    state: (payloadBytes) => ({ payloadBytes }),
  },
];
