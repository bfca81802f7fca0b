import { type Histogram, mergeCounts } from "./histogram.js";
import type { Hold, Sample } from "./sample.js";

/** A minute of a run. */
export interface Window {
  readonly fromMs: number;
  readonly toMs: number;
  readonly enqueued: number;
  readonly ended: number;
  readonly startLatency: { readonly database: Histogram; readonly handler: Histogram };
  /** Of the probe's commits, which have nothing to do with the queue. */
  readonly commitLatency: Histogram;
  readonly walBytes: number;
  /** For so long a process stood still to be sampled, at most. */
  readonly stoodStillMs: number;
  /** A snapshot was held in it. */
  readonly isHeld: boolean;
  /** The last sample of it. */
  readonly last: Sample;
}

const windowMs = 60_000;
/** A minute that lacks so much is a part, which is not judged. */
const slackMs = 1_000;

/** The whole minutes of a run; what is left over at its end is no window. The first sample is where the counting begins. */
export function windowsOf(samples: readonly Sample[], hold: Hold | undefined): readonly Window[] {
  const windows: Window[] = [];
  let [first] = samples;
  let members: Sample[] = [];
  for (const sample of samples.slice(1)) {
    if (first === undefined) break;
    members.push(sample);
    if (sample.atMs - first.atMs < windowMs - slackMs) continue;
    windows.push(windowOf(first, members, sample, hold));
    first = sample;
    members = [];
  }
  return windows;
}

function windowOf(first: Sample, members: readonly Sample[], last: Sample, hold: Hold | undefined): Window {
  return {
    fromMs: first.atMs,
    toMs: last.atMs,
    enqueued: members.reduce((sum, { server }) => sum + server.enqueued, 0),
    ended: members.reduce((sum, { server }) => sum + server.ended, 0),
    startLatency: {
      database: mergeCounts(members.map(({ server }) => server.startLatency)),
      handler: mergeCounts(members.flatMap(({ processes }) => processes.map(({ startLatency }) => startLatency))),
    },
    commitLatency: mergeCounts(members.map(({ commitLatency }) => commitLatency)),
    stoodStillMs: Math.max(0, ...members.flatMap(({ processes }) => processes.map(({ stoodStillMs }) => stoodStillMs))),
    walBytes: last.server.wal - first.server.wal,
    isHeld: hold !== undefined && hold.fromMs < last.atMs && hold.toMs > first.atMs,
    last,
  };
}
