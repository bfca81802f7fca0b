import { afterAll, beforeAll, beforeEach, onTestFinished } from "vitest";
import type { Admin, Executor } from "@queue/core";
import type { DatabaseTarget } from "@queue/core/adapter";
import { toExecutor } from "@queue/core/internal";
import { migrate } from "@queue/core/migrations";
import { createWorker, type Worker, type WorkerEvent, type WorkerOptions } from "@queue/worker";
import type { Adapter } from "./adapter.js";
import { type ConformanceQueue, createConformanceQueue } from "./conformance-queue.js";
import { emptySchema } from "./empty-schema.js";

type Jobs = ConformanceQueue["jobs"];
type TestWorkerOptions = Omit<WorkerOptions<Jobs, DatabaseTarget>, "queue" | "db" | "logger">;

/** What a test of the suite works with: one adapter, and a queue that is empty when the test begins. */
export interface Suite {
  readonly db: DatabaseTarget;
  readonly queue: ConformanceQueue;
  readonly admin: Admin<Jobs>;
  /** Runs `fn` in a transaction of the adapter and commits it. */
  committed(fn: (executor: Executor) => Promise<void>): Promise<void>;
  /** Runs `fn` in a transaction of the adapter and rolls it back. */
  rolledBack(fn: (executor: Executor) => Promise<void>): Promise<void>;
  /** Runs a statement on the database; its rows. */
  run<TRow>(sql: string, parameters?: readonly unknown[]): Promise<TRow[]>;
  /** What handlers write through, in the transaction that they get. */
  inHandler(trx: unknown): Executor;
  /** A worker on the queue, stopped at the end of the test. Without a listener unless one is given. */
  worker(options: TestWorkerOptions): TestWorker;
  readonly adapter: Adapter;
}

export interface TestWorker extends Worker {
  readonly events: readonly WorkerEvent[];
  /** Resolves with the events of `type` when there are `count` of them. */
  until<TType extends WorkerEvent["type"]>(type: TType, count?: number): Promise<Extract<WorkerEvent, { type: TType }>[]>;
}

/** Opens the adapter and makes the tables of a queue once, in a schema whose name needs quoting. */
export function useSuite(name: string, open: () => Promise<Adapter>): Suite {
  const queue = createConformanceQueue(`"${name}" '1'`);
  let adapter: Adapter;

  beforeAll(async () => {
    adapter = await open();
    await migrate(adapter.db, queue);
  });
  beforeEach(async () => {
    await emptySchema(queue.schema, toExecutor(adapter.db));
  });
  afterAll(async () => {
    await adapter?.close();
  });

  return {
    get db() {
      return adapter.db;
    },
    queue,
    get admin() {
      return queue.admin(adapter.db);
    },
    get adapter() {
      return adapter;
    },
    committed: (fn) => adapter.executorInTransaction(fn, { commit: true }),
    rolledBack: (fn) => adapter.executorInTransaction(fn, { commit: false }),
    run: async <TRow>(sql: string, parameters: readonly unknown[] = []) =>
      (await toExecutor(adapter.db).execute<TRow>({ sql, parameters })).rows,
    inHandler: (trx) => toExecutor(adapter.inHandler(trx)),
    worker: (options) => startableWorker(queue, adapter.db, options),
  };
}

/** `table` of the test's own, in the schema of the queue, until the test ends; its name as SQL. */
export async function createTable(suite: Suite, table: string): Promise<string> {
  const name = `"${suite.queue.schema.replaceAll('"', '""')}"."${table}"`;
  await suite.run(`create table ${name} (value text not null)`);
  onTestFinished(async () => void (await suite.run(`drop table ${name}`)));
  return name;
}

function startableWorker(queue: ConformanceQueue, db: DatabaseTarget, options: TestWorkerOptions): TestWorker {
  const events: WorkerEvent[] = [];
  const waiting: (() => void)[] = [];
  const worker = createWorker({
    // With two more for the worker itself, fewer than the connections of an ordinary pool, so that none is waited for.
    concurrency: 4,
    ...options,
    queue,
    db,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    onEvent(event) {
      events.push(event);
      options.onEvent?.(event);
      for (const look of waiting.slice()) look();
    },
  });
  onTestFinished(() => worker.stop({ grace: 0 }));
  return {
    events,
    start: () => worker.start(),
    stop: (stopOptions) => worker.stop(stopOptions),
    run: () => worker.run(),
    runUntilIdle: () => worker.runUntilIdle(),
    [Symbol.asyncDispose]: () => worker[Symbol.asyncDispose](),
    until: (type, count = 1) =>
      new Promise((resolve) => {
        const look = () => {
          const found = events.filter((event): event is Extract<WorkerEvent, { type: typeof type }> => event.type === type);
          if (found.length >= count) resolve(found);
        };
        waiting.push(look);
        look();
      }),
  };
}
