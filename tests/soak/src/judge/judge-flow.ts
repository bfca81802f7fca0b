import { type Histogram, percentile } from "../histogram.js";
import type { Window } from "../windows.js";
import { tooShort, type Verdict, verdict } from "./verdict.js";

/** Of what arrives in a minute, so much must end in it. */
const leastEnded = 0.99;
/** A run whose producers fell behind shows nothing about the rate that was asked for. */
const leastArrived = 0.98;
const longestStartMs = 50;
/** To have its objects counted, now and then, a process stands still for some two seconds: jobs of that minute begin late for that. */
const longestStandstillMs = 250;

/** Whether the producers kept the rate, and the workers kept pace with them, in every minute. */
export function judgeFlow(windows: readonly Window[], ratePerSecond: number): readonly Verdict[] {
  const names = { arrived: "arrivals keep the rate", ended: "completions keep pace with arrivals" };
  if (windows.length === 0) return Object.values(names).map((name) => tooShort(name, "no whole minute"));
  const planned = (window: Window) => (ratePerSecond * (window.toMs - window.fromMs)) / 1_000;
  const arrived = worst(windows, (window) => window.enqueued / planned(window));
  const ended = worst(windows, (window) => (window.enqueued === 0 ? 0 : window.ended / window.enqueued));
  return [
    verdict(
      names.arrived,
      arrived >= leastArrived,
      `worst minute ${percent(arrived)} of ${ratePerSecond}/s, at least ${percent(leastArrived)}`,
    ),
    verdict(names.ended, ended >= leastEnded, `worst minute ${percent(ended)}, at least ${percent(leastEnded)}`),
  ];
}

/** Whether jobs began in time in every minute: by the database, and as the handlers saw it. */
export function judgeStart(windows: readonly Window[]): readonly Verdict[] {
  return [
    judgeLatency("start p99, due to claimed", windows, (window) => window.startLatency.database),
    judgeLatency("start p99, due to handler", windows, (window) => window.startLatency.handler),
  ];
}

function judgeLatency(name: string, all: readonly Window[], of: (window: Window) => Histogram): Verdict {
  const windows = all.filter(({ stoodStillMs }) => stoodStillMs <= longestStandstillMs);
  if (windows.length === 0) return tooShort(name, "no whole minute");
  const p99s = windows.map((window) => percentile(of(window), 0.99) ?? Number.POSITIVE_INFINITY);
  const slowest = Math.max(...p99s);
  const late = p99s.filter((p99) => p99 >= longestStartMs);
  return verdict(
    name,
    late.length === 0,
    `worst minute ${slowest} ms, below ${longestStartMs} ms; ${late.length} of ${windows.length} minutes above`,
  );
}

function worst(windows: readonly Window[], share: (window: Window) => number): number {
  return Math.min(...windows.map(share));
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
