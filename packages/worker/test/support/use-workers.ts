import { Kysely, PostgresDialect } from "kysely";
import type pg from "pg";
import { afterEach, beforeAll, beforeEach } from "vitest";
import type { JobDefinitions } from "@queue/core";
import { type TestDatabase, useTestDatabase } from "@queue/test-database";
import { createWorker, type Worker, type WorkerOptions } from "@queue/worker";
import { type RecordedEvents, recordEvents } from "./recorded-events.js";
import { recordLogger, type RecordedLogger } from "./recorded-logger.js";
import { until } from "./until.js";

/** The application's own tables in these tests. */
export interface TestTables {
  ledger: { entry: string; job: string | null };
}
export type TestKysely = Kysely<TestTables>;

export type TestWorkerOptions<TJobs extends JobDefinitions> = Omit<WorkerOptions<TJobs, TestKysely>, "db"> & { readonly db?: TestKysely };

export interface StartedWorker {
  readonly worker: Worker;
  readonly events: RecordedEvents;
  readonly logger: RecordedLogger;
}

/** A row of the view that people look at. */
export interface JobRow {
  readonly id: string;
  readonly status: string;
  readonly kind: string;
  readonly lane: string;
  readonly attempts: number;
  readonly max_attempts: number;
  readonly claims: number;
  readonly redrives: number;
  readonly run_at: Date;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
  readonly locked_until: Date | null;
  readonly worker: string | null;
  readonly last_error: string | null;
  readonly errors: readonly {
    readonly attempt: number;
    readonly at: string;
    readonly name: string;
    readonly message: string;
    readonly stack?: string;
  }[];
}

export interface Workers {
  readonly database: TestDatabase;
  readonly db: TestKysely;
  /** Another Kysely on the test's database, on a pool of its own. */
  open(config?: pg.PoolConfig): TestKysely;
  /** A Kysely on a pool of the test's own. */
  openOn(pool: pg.Pool): TestKysely;
  /** A worker that looks every 25 ms, records its events and its log, and is stopped after the test. */
  create<TJobs extends JobDefinitions>(options: TestWorkerOptions<TJobs>): StartedWorker;
  start<TJobs extends JobDefinitions>(options: TestWorkerOptions<TJobs>): Promise<StartedWorker>;
  /** Runs SQL on a connection that the defaults of the database do not reach. */
  sql<TRow extends pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<TRow[]>;
  /** Runs SQL again and again until it finds a row. */
  sqlUntil(text: string): Promise<void>;
  job(id: string): Promise<JobRow>;
  jobs(): Promise<JobRow[]>;
  /** Resolves when so many jobs are in the state. */
  untilJobs(status: string, count: number): Promise<void>;
  /** Resolves when the job's last attempt began more than `ms` ago, by the database's clock. */
  untilRunningFor(id: string, ms: number): Promise<void>;
  /** Resolves when the lease of a running job has been extended so often. */
  untilHeartbeats(id: string, count: number): Promise<void>;
  /** What the test's handlers have written, in order. */
  ledger(): Promise<string[]>;
}

const ownDefaults = "-c default_transaction_read_only=off -c default_transaction_isolation=read\\ committed -c timezone=UTC";

/** A database for the test file, with empty queue tables and an empty `ledger` before each test. */
export function useWorkers(): Workers {
  const database = useTestDatabase();
  const started: Worker[] = [];
  let observer: pg.Pool | undefined;
  let db: TestKysely | undefined;

  beforeAll(async () => {
    observer = database.newPool({ max: 4, options: ownDefaults });
    db = openKysely(database.pool);
    await workers.sql("create table ledger (n bigint generated always as identity, entry text not null, job text)");
  });
  beforeEach(async () => {
    await workers.sql(
      "truncate queue.jobs, queue.jobs_archive, queue.job_keys, queue.effects, queue.lanes, queue.workers, ledger restart identity",
    );
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((worker) => worker.stop({ grace: 0 })));
  });

  const workers: Workers = {
    database,
    get db() {
      return there(db);
    },
    open: (config) => openKysely(survivable(database.newPool(config))),
    openOn: openKysely,
    create({ onEvent, ...options }) {
      const events = recordEvents(onEvent);
      const logger = recordLogger();
      const worker = createWorker({ db: there(db), logger, pollInterval: 25, ...options, onEvent: events.onEvent });
      started.push(worker);
      return { worker, events, logger };
    },
    async start(options) {
      const created = workers.create(options);
      await created.worker.start();
      return created;
    },
    sql: async <TRow extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []) =>
      (await there(observer).query<TRow>(text, [...values])).rows,
    sqlUntil: (text) => until(async () => (await workers.sql(text)).length > 0, text),
    async job(id) {
      const [row] = await workers.sql<JobRow & pg.QueryResultRow>("select * from queue.all_jobs where id = $1", [id]);
      if (row === undefined) throw new Error(`There is no job ${id}.`);
      return row;
    },
    jobs: () => workers.sql<JobRow & pg.QueryResultRow>("select * from queue.all_jobs order by id"),
    untilJobs: (status, count) =>
      until(async () => (await workers.jobs()).filter((row) => row.status === status).length === count, `${count} jobs ${status}`, 20_000),
    untilRunningFor: (id, ms) =>
      until(
        async () => {
          const rows = await workers.sql<{ is_over: boolean }>(
            "select clock_timestamp() > started_at + $2 * interval '1 millisecond' as is_over from queue.all_jobs where id = $1",
            [id, ms],
          );
          return rows[0]?.is_over === true;
        },
        `job ${id} running for ${ms} ms`,
        ms + 10_000,
      ),
    async untilHeartbeats(id, count) {
      const seen = new Set<number>();
      const isEnough = async () => seen.add(Number((await workers.job(id)).locked_until)).size > count;
      await until(isEnough, `${count} heartbeats of job ${id}`);
    },
    ledger: async () => (await workers.sql<{ entry: string }>("select entry from ledger order by n")).map(({ entry }) => entry),
  };
  return workers;
}

/**
 * A connection that is lost while it is out of the pool is an event of its client, and without a listener it ends the process:
 * node-postgres leaves that to whoever makes the pool, and Kysely does not do it either.
 */
function survivable(pool: pg.Pool): pg.Pool {
  return pool.on("connect", (client) => client.on("error", () => {}));
}

function openKysely(pool: pg.Pool): TestKysely {
  return new Kysely<TestTables>({ dialect: new PostgresDialect({ pool }) });
}

function there<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("The database is there from beforeAll on.");
  return value;
}
