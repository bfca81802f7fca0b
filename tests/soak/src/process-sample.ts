import { EventEmitter } from "node:events";
import { queryObjects } from "node:v8";
import type pg from "pg";
import type { Counts } from "./histogram.js";

/** What a process of the soak tells about itself, when it is asked. */
export interface ProcessSample {
  readonly name: string;
  /** Bytes; the heap after a full collection. */
  readonly heap: number;
  readonly rss: number;
  readonly external: number;
  /** What must not pile up, by name: active handles, listeners, live objects. */
  readonly held: Readonly<Record<string, number>>;
  /** How long the process stood still for this sample, in milliseconds. */
  readonly stoodStillMs: number;
  /** Milliseconds between due and started, of the handlers that began since the sample before. */
  readonly startLatency: Counts;
  /** What should not have happened since the sample before: warnings of Node, errors, lost leases. */
  readonly troubles: readonly string[];
}

/** What only the process knows. */
export type Progress = Pick<ProcessSample, "name" | "startLatency" | "troubles">;

/** What the parent asks. */
export interface SampleRequest {
  /** Counts live objects, too. The process stands still for it, so seldom: it must not be the latency that is measured. */
  readonly isThorough: boolean;
}

/** Answers every request of the parent with a sample. `gc` is there under `--expose-gc`. */
export function answerSamples(pool: pg.Pool, progress: () => Progress): void {
  const clients = new Set<pg.PoolClient>();
  pool.on("connect", (client) => clients.add(client));
  pool.on("remove", (client) => clients.delete(client));
  process.on("message", ({ isThorough }: SampleRequest) => {
    const beganAt = performance.now();
    const held = { ...activeHandles(), ...listeners(pool, clients), ...(isThorough ? liveObjects() : {}) };
    globalThis.gc?.();
    const { heapUsed: heap, rss, external } = process.memoryUsage();
    const sample: ProcessSample = { ...progress(), heap, rss, external, held, stoodStillMs: performance.now() - beganAt };
    process.send?.(sample);
  });
}

function activeHandles(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const type of process.getActiveResourcesInfo()) counts[`active ${type}`] = (counts[`active ${type}`] ?? 0) + 1;
  return counts;
}

function listeners(pool: pg.Pool, clients: ReadonlySet<pg.PoolClient>): Record<string, number> {
  return {
    "listeners of the process": listenersOf(process),
    "listeners of the pool": listenersOf(pool),
    "listeners of a pool client": Math.max(0, ...[...clients].map(listenersOf)),
  };
}

function listenersOf(emitter: EventEmitter): number {
  return emitter.eventNames().reduce((sum, name) => sum + emitter.listenerCount(name), 0);
}

/** Objects that are alive after a collection, whoever holds them. */
function liveObjects(): Record<string, number> {
  return Object.fromEntries([AbortSignal, EventEmitter].map((type) => [`live ${type.name}`, queryObjects(type, { format: "count" })]));
}
