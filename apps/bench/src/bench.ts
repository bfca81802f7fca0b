import type { BenchServer } from "./machine/bench-server.js";
import type { BenchRedis } from "./machine/find-redis.js";
import type { NodeRuntime } from "./machine/bring-node.js";
import type { SystemOptions } from "./runner/system.js";
import { RunnerProcess } from "./runner/runner-process.js";
import type { Sizes } from "./sizes.js";
import type { BenchDatabase } from "./machine/bench-server.js";
import type { Variant } from "./variant.js";

/** What measures work with. */
export interface Bench {
  readonly server: BenchServer;
  readonly redis: BenchRedis | undefined;
  readonly node: NodeRuntime;
  readonly sizes: Sizes;
}

/** One side in an empty database of its own, its tables created. */
export interface Stage {
  readonly database: BenchDatabase;
  /** The process that created the tables, and enqueues. */
  readonly producer: RunnerProcess;
  readonly retryDelayMs: number;
  /** Another process, for a worker. */
  startRunner(options?: Partial<SystemOptions>): Promise<RunnerProcess>;
  /** Ends its processes and drops its database. */
  close(): Promise<void>;
}

export type StageOptions = Omit<SystemOptions, "url" | "settings">;

export async function openStage(bench: Bench, { side, settings }: Variant, options: StageOptions): Promise<Stage> {
  const database = side === "bullmq" ? redisAsDatabase(bench) : await bench.server.createDatabase(side);
  const runners: RunnerProcess[] = [];
  const startRunner = async (more: Partial<SystemOptions> = {}) => {
    const runner = new RunnerProcess(side, bench.node.path);
    runners.push(runner);
    const opened = await runner.call("open", { url: database.url, settings, ...options, ...more });
    return { runner, ...opened };
  };
  const close = async () => {
    await Promise.all(runners.map((runner) => runner.kill()));
    await database.drop();
  };
  try {
    const { runner: producer, retryDelayMs } = await startRunner();
    await producer.call("install");
    return { database, producer, retryDelayMs, close, startRunner: async (more) => (await startRunner(more)).runner };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens a stage, and closes it whatever happens. */
export async function onStage<T>(bench: Bench, variant: Variant, options: StageOptions, act: (stage: Stage) => Promise<T>): Promise<T> {
  const stage = await openStage(bench, variant, options);
  try {
    return await act(stage);
  } finally {
    await stage.close();
  }
}

function redisAsDatabase({ redis }: Bench): BenchDatabase {
  if (redis === undefined) throw new Error("There is no Redis.");
  const refuse = () => Promise.reject(new Error("Redis has neither snapshots nor a vacuum."));
  return { url: redis.url, holdSnapshot: refuse, vacuum: refuse, drop: async () => {} };
}
