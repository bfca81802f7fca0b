import { Logger, makeWorkerUtils, run, type Runner, type WorkerUtils } from "graphile-worker";
import pg from "pg";
import { inTransaction } from "../runner/in-transaction.js";
import { serveRunner } from "../runner/serve-runner.js";
import type { Backlog, BenchJob, System, SystemOptions } from "../runner/system.js";

/** https://worker.graphile.org/docs/performance: many concurrent jobs, a local queue, completions in batches. */
const bestForThroughput = { concurrentJobs: 24, localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };
/** The local queue "trades latency for throughput", so without it. */
const bestForLatency = { concurrentJobs: 24 };

const addJobs = `select graphile_worker.add_jobs(array(
  select json_populate_record(null::graphile_worker.job_spec, json_build_object('identifier', 'noop', 'payload', p))
    from unnest($1::json[]) p))`;

/** What the task throws to be tried again; the library logs it, and goes on. */
class TryAgain extends Error {}

function graphileWorker({ url, settings, aim, pollMs, connections = 10 }: SystemOptions): System {
  const pool = new pg.Pool({ connectionString: url, max: connections });
  // The library wants to see both listeners on a pool that is not its own.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  const best = aim === "throughput" ? bestForThroughput : bestForLatency;
  const logger = new Logger(() => () => {});
  let utils: WorkerUtils | undefined;
  let runner: Runner | undefined;
  const connected = () => {
    if (utils === undefined) throw new Error("Not connected.");
    return utils;
  };
  return {
    // exp(attempts) seconds, which no setting changes.
    retryDelayMs: Math.exp(1) * 1_000,
    async install() {
      await connected().migrate();
    },
    async connect() {
      utils = await makeWorkerUtils({ pgPool: pool, logger });
    },
    async enqueue(job, delayMs) {
      await connected().addJob("noop", job, delayMs > 0 ? { runAt: new Date(Date.now() + delayMs) } : {});
    },
    async enqueueMany(jobs) {
      await pool.query(addJobs, [jobs.map((job) => JSON.stringify(job))]);
    },
    enqueueTogether: (jobs) =>
      inTransaction(pool, async (client) => {
        await client.query(addJobs, [jobs.map((job) => JSON.stringify(job))]);
      }),
    async enqueueInTransaction(job) {
      await inTransaction(pool, (client) => client.query("select graphile_worker.add_job('noop', $1::json)", [JSON.stringify(job)]));
    },
    async insertBacklog(backlog, jobs) {
      await pool.query("select graphile_worker.add_job($1)", [taskOf(backlog)]);
      await pool.query(
        `insert into graphile_worker._private_jobs (task_id, payload)
         select t.id, json_build_object('id', i, 'hello', 'world')
           from graphile_worker._private_tasks t, generate_series(1, $2::int) i where t.identifier = $1`,
        [taskOf(backlog), jobs],
      );
      await pool.query("vacuum (analyze) graphile_worker._private_jobs");
    },
    async work(onStart) {
      runner = await run({
        pgPool: pool,
        noHandleSignals: true,
        logger,
        taskList: {
          noop: async (payload) => {
            if (onStart(payload as BenchJob) === "fail") throw new TryAgain("Once.");
          },
        },
        preset: { worker: { ...(settings === "best" ? best : {}), ...(pollMs === undefined ? {} : { pollInterval: pollMs }) } },
      });
    },
    async isDrained() {
      const { rows } = await pool.query<{ left: boolean }>("select exists (select from graphile_worker._private_jobs) as left");
      return rows[0]?.left === false;
    },
    async stop() {
      await runner?.stop();
    },
    isClaim: (statement) => /skip locked/i.test(statement) && statement.includes("_private_jobs") && /is_available = true/.test(statement),
  };
}

function taskOf(backlog: Backlog): string {
  if (backlog === "due") return "noop";
  if (backlog === "foreign") return "foreign";
  throw new Error(`No backlog of the sort ${backlog} here.`);
}

serveRunner(graphileWorker);
