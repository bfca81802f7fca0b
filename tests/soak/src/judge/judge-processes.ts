import type { ProcessSample } from "../process-sample.js";
import type { Sample } from "../sample.js";
import { type Allowance, type Point, shortestTrendMs, trendOf } from "./trend.js";
import { tooShort, type Verdict, verdict } from "./verdict.js";

const mebibyte = 2 ** 20;

/** What is flat: over 20 minutes at 1,000 jobs a second, 2 MiB of heap are two bytes a job. */
const allowances = {
  heap: { atLeast: 2 * mebibyte, part: 0.1 },
  external: { atLeast: 2 * mebibyte, part: 0.1 },
  /** The allocator gives pages back late, and in large pieces. */
  rss: { atLeast: 24 * mebibyte, part: 0.15 },
  /** Those of the jobs that run at the moment of the sample come and go. */
  held: { atLeast: 15, part: 0.15 },
  backend: { atLeast: 2 * mebibyte, part: 0.15 },
} as const;

interface Series {
  readonly name: string;
  readonly points: readonly Point[];
}

/** Whether the memory of every producer and worker is flat, and nothing piles up in it. */
export function judgeProcesses(samples: readonly Sample[]): readonly Verdict[] {
  return [
    ...(["heap", "external", "rss"] as const).map((what) =>
      judgeFlat(
        `${what} is flat`,
        seriesOf(samples, (process) => ({ [what]: process[what] })),
        allowances[what],
        megabytes,
      ),
    ),
    judgeFlat(
      "handles and listeners do not pile up",
      // A producer's pool grows with what it has to wait for; a worker holds what it holds.
      seriesOf(samples, ({ name, held }) => (name.startsWith("worker") ? held : {})),
      allowances.held,
      (count) => count.toFixed(0),
    ),
  ];
}

/** Whether the server's sessions keep their size, plan and catalogue caches included. */
export function judgeBackends(samples: readonly Sample[]): Verdict {
  const byApplication = groupPoints(samples, ({ server }) => Object.entries(server.backends));
  return judgeFlat("memory of the server's sessions is flat", byApplication, allowances.backend, megabytes);
}

function seriesOf(samples: readonly Sample[], read: (process: ProcessSample) => Readonly<Record<string, number>>): readonly Series[] {
  return groupPoints(samples, ({ processes }) =>
    processes.flatMap((process) => Object.entries(read(process)).map(([what, value]) => [`${process.name} ${what}`, value] as const)),
  );
}

function groupPoints(samples: readonly Sample[], read: (sample: Sample) => readonly (readonly [string, number])[]): readonly Series[] {
  const byName = new Map<string, Point[]>();
  for (const sample of samples) {
    for (const [name, value] of read(sample)) byName.set(name, [...(byName.get(name) ?? []), { atMs: sample.atMs, value }]);
  }
  return [...byName].map(([name, points]) => ({ name, points }));
}

/** Of several the one that came nearest to its bar, or passed it. */
function judgeFlat(name: string, series: readonly Series[], allowance: Allowance, show: (value: number) => string): Verdict {
  const trends = series.flatMap(({ name: of, points }) => {
    const trend = trendOf(points, allowance);
    return trend === undefined ? [] : [{ of, ...trend }];
  });
  const [worst] = trends.sort((a, b) => b.rise / b.allowed - a.rise / a.allowed);
  if (worst === undefined) return tooShort(name, `needs ${Math.ceil((shortestTrendMs * 1.5) / 60_000)} minutes`);
  const { of, rise, allowed, median } = worst;
  return verdict(
    name,
    rise <= allowed,
    `${of} ${signed(rise, show)} on ${show(median)} over the last two thirds, at most +${show(allowed)}`,
  );
}

function signed(value: number, show: (value: number) => string): string {
  return `${value < 0 ? "−" : "+"}${show(Math.abs(value))}`;
}

function megabytes(bytes: number): string {
  return `${(bytes / mebibyte).toFixed(2)} MiB`;
}
