import type { Counts } from "./histogram.js";
import type { ProcessSample } from "./process-sample.js";
import type { ServerSample } from "./server-sample.js";

/** Everything that was read at one moment of a run. */
export interface Sample {
  /** Milliseconds since the load began. */
  readonly atMs: number;
  readonly server: ServerSample;
  readonly processes: readonly ProcessSample[];
  /** Milliseconds of the probe's commits since the sample before. */
  readonly commitLatency: Counts;
  readonly troubles: readonly string[];
}

/** When the snapshot was held, in milliseconds since the load began. */
export interface Hold {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What was enqueued, and how much of it the queue has: waiting, running, dead or in the archive. */
export interface Account {
  readonly enqueued: number;
  readonly found: number;
}

/** A run; `account` comes at its end. */
export interface Recording {
  readonly ratePerSecond: number;
  readonly samples: readonly Sample[];
  readonly hold: Hold | undefined;
  readonly account?: Account;
}
