import { createQueue, type Duration, job, type QueueDatabase, RetryAfterError } from "@queue/core";
import { migrate } from "@queue/core/migrations";
import { pgListener } from "@queue/pg";
import { createWorker, type Worker } from "@queue/worker";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { steadyMs } from "../runner/clock.js";
import { serveRunner } from "../runner/serve-runner.js";
import type { Backlog, BenchJob, System, SystemOptions } from "../runner/system.js";

const retryDelay: Duration = "1s";
const throughputConcurrency = 100;

/** All at its defaults; where throughput is measured, with a `concurrency` of 100. There are no other best settings. */
function ours({ url, aim, pollMs, connections = 10, spread = { lanes: 1, kinds: 1 } }: SystemOptions): System {
  const pool = new pg.Pool({ connectionString: url, max: connections });
  const db = new Kysely<QueueDatabase>({ dialect: new PostgresDialect({ pool }) });
  const kinds = Array.from({ length: spread.kinds }, (_, index) => `noop-${index}`);
  const laneOf = (index: number) => (spread.lanes === 1 ? {} : { lane: `lane-${index % spread.lanes}` });
  // A record of any number of kinds that are all alike: to the compiler they are one.
  const queue = createQueue({
    jobs: Object.fromEntries(kinds.map((kind, index) => [kind, job<BenchJob>(laneOf(index))])) as Record<"noop-0", NoopJob>,
  });
  const kindOf = (id: number) => kinds[id % kinds.length] as "noop-0";
  const item = (payload: BenchJob) => ({ kind: kindOf(payload.id), payload });
  let worker: Worker | undefined;
  return {
    retryDelayMs: 1_000,
    async install() {
      await migrate(db, queue);
    },
    async connect() {
      await pool.query("select 1");
    },
    async enqueue(payload, delayMs) {
      await queue.enqueue(db, kindOf(payload.id), payload, delayMs > 0 ? { delay: delayMs } : {});
    },
    async enqueueMany(jobs) {
      await queue.enqueueMany(db, jobs.map(item));
    },
    enqueueTogether: (jobs) =>
      db.transaction().execute(async (trx) => {
        await queue.enqueueMany(trx, jobs.map(item));
        return steadyMs();
      }),
    async enqueueInTransaction(payload) {
      await db.transaction().execute((trx) => queue.enqueue(trx, kindOf(payload.id), payload));
    },
    async insertBacklog(backlog, jobs) {
      await pool.query(backlogSql[backlog], [jobs]);
      await pool.query("vacuum (analyze) queue.jobs");
    },
    async work(onStart) {
      const handler = ({ payload }: { readonly payload: BenchJob }) => {
        if (onStart(payload) === "fail") throw new RetryAfterError(retryDelay);
      };
      worker = createWorker({
        queue,
        db,
        listener: pgListener({ connectionString: url }),
        logger: { debug() {}, info() {}, warn() {}, error() {} },
        handlers: Object.fromEntries(kinds.map((kind) => [kind, handler])) as { "noop-0": typeof handler },
        ...(aim === "throughput" ? { concurrency: throughputConcurrency } : {}),
        ...(pollMs === undefined ? {} : { pollInterval: pollMs }),
      });
      await worker.start();
    },
    async isDrained() {
      const { rows } = await pool.query<{ left: boolean }>(
        "select exists (select from queue.jobs where status = 'queued') or exists (select from queue.jobs where status = 'running') as left",
      );
      return rows[0]?.left === false;
    },
    async stop() {
      await worker?.stop();
    },
    isClaim: (statement) => /"queue"\.(claim_jobs|complete_and_claim)_/.test(statement),
  };
}

type NoopJob = ReturnType<typeof job<BenchJob>>;

const columns = "insert into queue.jobs (kind, payload, run_at)";
const payload = `jsonb_build_object('id', i, 'hello', 'world')`;

const backlogSql: Readonly<Record<Backlog, string>> = {
  due: `${columns} select 'noop-0', ${payload}, clock_timestamp() from generate_series(1, $1::int) i`,
  foreign: `${columns} select 'foreign', ${payload}, clock_timestamp() from generate_series(1, $1::int) i`,
  tomorrow: `${columns} select 'noop-0', ${payload}, clock_timestamp() + interval '1 day' from generate_series(1, $1::int) i`,
  ended: `insert into queue.jobs_archive (id, run_at, created_at, started_at, finished_at, keep_until, claims, attempts, max_attempts,
            redrives, status, priority, lane, kind, payload, worker, errors)
          select -i, now(), now(), now(), now(), now() + interval '7 days', 1, 1, 8, 0, 'done', 5, 'default', 'noop-0', ${payload},
                 'bench', '[]' from generate_series(1, $1::int) i`,
};

serveRunner(ours);
