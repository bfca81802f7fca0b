import { setTimeout as pause } from "node:timers/promises";
import { pgListener } from "@queue/pg";
import { createWorker } from "@queue/worker";
import pg from "pg";
import { queue, resetQueue } from "../bench-queue.js";
import type { Measure } from "./measure.js";

const samples = 200;

/** From the call of `enqueue` to the begin of the handler, with an idle worker; beside LISTEN alone, without a queue. */
export const startLatency: Measure = {
  name: "start-latency",
  async run({ db, url }) {
    await resetQueue(db);
    const begun = new Map<number, () => void>();
    const worker = createWorker({
      queue,
      db,
      listener: pgListener({ connectionString: url }),
      handlers: { noop: ({ payload }) => begun.get(payload.id)?.() },
    });
    await worker.start();
    const ours: number[] = [];
    for (let id = 0; id < samples; id++) {
      await pause(5 + Math.random() * 10);
      const began = performance.now();
      const started = new Promise<void>((resolve) => begun.set(id, resolve));
      await queue.enqueue(db, "noop", { id, hello: "world" });
      await started;
      ours.push(performance.now() - began);
    }
    await worker.stop();
    const bare = await bareNotify(url);
    return [
      { name: "enqueue to handler, p50", unit: "ms", value: quantile(ours, 0.5) },
      { name: "enqueue to handler, p99", unit: "ms", value: quantile(ours, 0.99) },
      { name: "NOTIFY to LISTEN alone, p50", unit: "ms", value: quantile(bare, 0.5) },
      { name: "NOTIFY to LISTEN alone, p99", unit: "ms", value: quantile(bare, 0.99) },
    ];
  },
};

async function bareNotify(url: string): Promise<number[]> {
  const [listening, notifying] = [new pg.Client({ connectionString: url }), new pg.Client({ connectionString: url })];
  await Promise.all([listening.connect(), notifying.connect()]);
  await listening.query("listen bench");
  const readings: number[] = [];
  for (let n = 0; n < samples; n++) {
    await pause(5 + Math.random() * 10);
    const began = performance.now();
    const heard = new Promise<void>((resolve) => listening.once("notification", () => resolve()));
    await notifying.query("notify bench");
    await heard;
    readings.push(performance.now() - began);
  }
  await Promise.all([listening.end(), notifying.end()]);
  return readings;
}

function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}
