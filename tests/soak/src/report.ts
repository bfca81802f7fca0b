import { percentile } from "./histogram.js";
import type { Verdict } from "./judge/verdict.js";
import type { Window } from "./windows.js";

const columns: readonly (readonly [title: string, read: (window: Window) => string])[] = [
  ["minute", ({ fromMs, isHeld }) => `${Math.round(fromMs / 60_000) + 1}${isHeld ? " held" : ""}`],
  ["arrive/s", (window) => perSecond(window, window.enqueued)],
  ["end/s", (window) => perSecond(window, window.ended)],
  ["claim p50", ({ startLatency }) => milliseconds(percentile(startLatency.database, 0.5))],
  ["p99", ({ startLatency }) => milliseconds(percentile(startLatency.database, 0.99))],
  ["start p50", ({ startLatency }) => milliseconds(percentile(startLatency.handler, 0.5))],
  ["p99", ({ startLatency }) => milliseconds(percentile(startLatency.handler, 0.99))],
  ["commit p50", ({ commitLatency }) => milliseconds(percentile(commitLatency, 0.5))],
  ["p99", ({ commitLatency }) => milliseconds(percentile(commitLatency, 0.99))],
  ["still ms", ({ stoodStillMs }) => stoodStillMs.toFixed(0)],
  ["heap MiB", ({ last }) => last.processes.map(({ heap }) => megabytes(heap)).join(" ")],
  ["rss MiB", ({ last }) => last.processes.map(({ rss }) => megabytes(rss)).join(" ")],
  ["session MiB", ({ last }) => megabytes(Math.max(0, ...Object.values(last.server.backends)))],
  ["jobs MiB", ({ last }) => megabytes(last.server.tables["jobs"]?.bytes ?? 0)],
  ["claim idx MiB", ({ last }) => megabytes(last.server.tables["jobs_claim"]?.bytes ?? 0)],
  ["archive MiB", ({ last }) => megabytes(last.server.tables["jobs_archive"]?.bytes ?? 0)],
  ["rows", ({ last }) => String(last.server.tables["jobs"]?.liveRows ?? 0)],
  ["dead rows", ({ last }) => String(last.server.tables["jobs"]?.deadRows ?? 0)],
  ["keys", ({ last }) => String(last.server.tables["job_keys"]?.liveRows ?? 0)],
  ["effects", ({ last }) => String(last.server.tables["effects"]?.liveRows ?? 0)],
  ["WAL B/job", ({ walBytes, ended }) => (ended === 0 ? "" : (walBytes / ended).toFixed(0))],
];

export function headerLine(): string {
  return line(columns.map(([title]) => title));
}

export function windowLine(window: Window): string {
  return line(columns.map(([, read]) => read(window)));
}

export function verdictLines(verdicts: readonly Verdict[]): readonly string[] {
  const width = Math.max(...verdicts.map(({ name }) => name.length));
  const words = { held: "ok", missed: "MISSED", short: "too short" } as const;
  return verdicts.map(({ name, outcome, detail }) => `  ${words[outcome].padEnd(9)} ${name.padEnd(width)}  ${detail}`);
}

/** The windows without their histograms, for machines. */
export function windowFigures(window: Window): object {
  const { fromMs, toMs, enqueued, ended, walBytes, isHeld, startLatency, commitLatency, stoodStillMs, last } = window;
  const figures = ({ database, handler }: Window["startLatency"], share: number) => ({
    database: percentile(database, share),
    handler: percentile(handler, share),
  });
  const { server, processes } = last;
  return {
    fromMs: Math.round(fromMs),
    toMs: Math.round(toMs),
    isHeld,
    enqueued,
    ended,
    walBytes,
    startP50Ms: figures(startLatency, 0.5),
    startP99Ms: figures(startLatency, 0.99),
    stoodStillMs: Math.round(stoodStillMs),
    commitP50Ms: percentile(commitLatency, 0.5),
    commitP99Ms: percentile(commitLatency, 0.99),
    tables: server.tables,
    backends: server.backends,
    processes: processes.map(({ startLatency: _startLatency, troubles: _troubles, ...process }) => process),
  };
}

function line(cells: readonly string[]): string {
  return cells.map((cell, index) => cell.padStart(Math.max(columns[index]?.[0].length ?? 0, widths[index] ?? 7))).join("  ");
}

/** Of the cells that hold a figure for each process. */
const widths: Readonly<Record<number, number>> = { 0: 8, 10: 23, 11: 23 };

function perSecond({ fromMs, toMs }: Window, count: number): string {
  return (count / ((toMs - fromMs) / 1_000)).toFixed(0);
}

function milliseconds(value: number | undefined): string {
  return value === undefined ? "" : value.toFixed(1);
}

function megabytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}
