import type { ProcessSample } from "../../src/process-sample.js";
import type { Recording, Sample } from "../../src/sample.js";
import type { TableSize } from "../../src/server-sample.js";

/** How a sample differs from that of a healthy run, at its moment. */
export type Deviation = (minute: number) => {
  readonly server?: Partial<Sample["server"]>;
  readonly process?: Partial<ProcessSample>;
  readonly table?: Partial<TableSize>;
  readonly troubles?: readonly string[];
};

const sampleEveryMs = 10_000;
const ratePerSecond = 1_000;

/** Thirty healthy minutes, ten of them with a snapshot, apart from `deviation`: what the judges are shown in their tests. */
export function aRecording(deviation: Deviation = () => ({}), { minutes = 30 } = {}): Recording {
  const hold = minutes === 30 ? { fromMs: 600_000, toMs: 1_200_000 } : undefined;
  const samples: Sample[] = [];
  for (let atMs = sampleEveryMs; atMs <= minutes * 60_000; atMs += sampleEveryMs) {
    const { server, process, table, troubles = [] } = deviation(atMs / 60_000);
    const perSample = (ratePerSecond * sampleEveryMs) / 1_000;
    const isHeld = hold !== undefined && atMs > hold.fromMs && atMs < hold.toMs + 40_000;
    // As when one cleaning a minute removes what has come since the one before.
    const cycle = (atMs % 60_000) / 60_000;
    samples.push({
      atMs,
      server: {
        until: new Date(atMs).toISOString(),
        enqueued: perSample,
        ended: perSample,
        startLatency: [
          [2, perSample * 0.995],
          [30, perSample * 0.005],
        ],
        tables: {
          jobs: { liveRows: 100, deadRows: isHeld ? 1_500_000 : 100_000 * cycle, bytes: 50e6, ...table },
          job_keys: { liveRows: 1_000 + 3_000 * cycle, deadRows: 0, bytes: 2e6 },
          jobs_archive: { liveRows: 1_000 * (atMs / 1_000), deadRows: 0, bytes: 200_000 * (atMs / 1_000) },
        },
        backends: { "soak worker 1": 4e6 },
        wal: atMs * 1_000,
        ...server,
      },
      processes: [
        {
          name: "worker 1",
          heap: 14e6 + 500_000 * Math.sin(atMs),
          rss: 80e6,
          external: 3e6,
          held: { "active Timeout": 12 + (atMs % 7), "live AbortSignal": 20 },
          stoodStillMs: 15,
          startLatency: [[3, perSample]],
          troubles: [],
          ...process,
        },
      ],
      commitLatency: [[1, 1_000]],
      troubles,
    });
  }
  return { ratePerSecond, samples, hold, account: { enqueued: 1_800_000, found: 1_800_000 } };
}
