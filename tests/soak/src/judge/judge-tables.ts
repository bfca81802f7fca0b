import type { Hold, Recording, Sample } from "../sample.js";
import { type Allowance, median, type Point, trendOf } from "./trend.js";
import { tooShort, type Verdict, verdict } from "./verdict.js";

/** Only what ends may pile up, in its partitions. */
const growing = /^jobs_archive/;
/** Keys and delivery records are removed every minute, so that their number goes up and down by a minute's worth. */
const rowAllowance: Allowance = { atLeast: 2_000, part: 0.25 };
const byteAllowance: Allowance = { atLeast: 8 * 2 ** 20, part: 0.2 };
/** From the release of a snapshot until what it held back is gone. */
export const recoveryMs = 60_000;
/** The sample that is due at the end of the minute is taken so much later at most. */
const sampleSlackMs = 1_000;
/** Autovacuum looks once a minute: what is normal shows after two of its rounds. */
const shortestBeforeMs = 120_000;

/**
 * Whether tables and indexes keep their size, apart from the time when a snapshot is held and the minute after it; and whether there are
 * as many rows after it as before.
 */
export function judgeTables({ samples, hold }: Recording): readonly Verdict[] {
  const spans = spansOf(samples, hold);
  const names = [...new Set(samples.flatMap(({ server }) => Object.keys(server.tables)))].filter((name) => !growing.test(name));
  const rises = names.flatMap((name) => [
    ...spans.flatMap((span) => rise(`${name} rows`, span, (sample) => sample.server.tables[name]?.liveRows, rowAllowance)),
    ...spans.flatMap((span) => rise(`${name} bytes`, span, (sample) => sample.server.tables[name]?.bytes, byteAllowance)),
    ...across(name, spans),
  ]);
  const [worst] = rises.sort((a, b) => b.rise / b.allowed - a.rise / a.allowed);
  const title = "tables other than the archive keep their size";
  if (worst === undefined) return [tooShort(title, "needs 4 minutes without a snapshot")];
  return [verdict(title, worst.rise <= worst.allowed, `${worst.name} ${Math.round(worst.rise)}, at most ${Math.round(worst.allowed)}`)];
}

/** Whether the dead rows that a snapshot kept were gone within a minute of its release. */
export function judgeDeadRows({ samples, hold }: Recording): Verdict {
  const title = "dead rows are back to normal a minute after the release";
  if (hold === undefined) return tooShort(title, "no snapshot was held");
  if (hold.fromMs < shortestBeforeMs) return tooShort(title, `needs ${shortestBeforeMs / 60_000} minutes before the snapshot`);
  const before = samples.filter(({ atMs }) => atMs < hold.fromMs).map(deadRows);
  const after = samples.filter(({ atMs }) => atMs >= hold.toMs);
  if (before.length === 0 || (after.at(-1)?.atMs ?? 0) < hold.toMs + recoveryMs) return tooShort(title, "needs a minute after the release");
  const normal = Math.max(...before) * 1.25;
  const peak = Math.max(...samples.map(deadRows));
  const recovered = after.find((sample) => deadRows(sample) <= normal);
  const took = recovered === undefined ? undefined : recovered.atMs - hold.toMs;
  const detail = `normal up to ${Math.round(normal)}, at most ${Math.round(peak)}, back after ${took === undefined ? "the end" : `${Math.round(took / 1_000)} s`}`;
  return verdict(title, took !== undefined && took <= recoveryMs + sampleSlackMs, detail);
}

interface Rise {
  readonly name: string;
  readonly rise: number;
  readonly allowed: number;
}

function rise(name: string, span: readonly Sample[], read: (sample: Sample) => number | undefined, allowance: Allowance): readonly Rise[] {
  const points = span.flatMap((sample): readonly Point[] => {
    const value = read(sample);
    return value === undefined ? [] : [{ atMs: sample.atMs, value }];
  });
  const trend = trendOf(points, allowance);
  return trend === undefined ? [] : [{ name, ...trend }];
}

/** The rows after a snapshot, against those before: a slow leak that no span shows by itself. */
function across(name: string, spans: readonly (readonly Sample[])[]): readonly Rise[] {
  const [before, after] = spans.map((span) => median(span.map(({ server }) => server.tables[name]?.liveRows ?? 0)));
  if (before === undefined || after === undefined) return [];
  return [{ name: `${name} rows, before and after the snapshot`, rise: after - before, allowed: Math.max(rowAllowance.atLeast, before) }];
}

function spansOf(samples: readonly Sample[], hold: Hold | undefined): readonly (readonly Sample[])[] {
  if (hold === undefined) return [samples];
  return [samples.filter(({ atMs }) => atMs < hold.fromMs), samples.filter(({ atMs }) => atMs > hold.toMs + recoveryMs)].filter(
    (span) => span.length > 1,
  );
}

function deadRows({ server }: Sample): number {
  return Object.entries(server.tables).reduce((sum, [name, { deadRows: dead }]) => (growing.test(name) ? sum : sum + dead), 0);
}
