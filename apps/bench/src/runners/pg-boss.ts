import pg from "pg";
import { PgBoss, type Db } from "pg-boss";
import { inTransaction } from "../runner/in-transaction.js";
import { serveRunner } from "../runner/serve-runner.js";
import type { Backlog, BenchJob, OnStart, System, SystemOptions } from "../runner/system.js";

const queue = "noop";
const foreignQueue = "foreign";

/** https://pgboss.io/api/workers: large batches, several loops, no pause while batches come back full. */
const bestForThroughput = { batchSize: 1_000, localConcurrency: 4, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true };
/** LISTEN/NOTIFY wakes the workers; batches of many wait for nobody, and one job makes a batch. */
const bestForLatency = { ...bestForThroughput, batchSize: 100, localConcurrency: 2 };

function pgBoss({ url, settings, aim, pollMs, connections = 10 }: SystemOptions): System {
  const isBest = settings === "best";
  const boss = new PgBoss({ connectionString: url, max: 10, ...(isBest ? { useListenNotify: true } : {}) });
  // It warns of what a benchmark does on purpose.
  boss.on("error", () => {});
  const pool = new pg.Pool({ connectionString: url, max: connections });
  let started: Promise<unknown> | undefined;
  const start = () => (started ??= boss.start());
  const throughOneClient = (client: pg.PoolClient): Db => ({
    executeSql: (text, values = []) => client.query(text, [...values]),
  });
  return {
    retryDelayMs: 1_000,
    async install() {
      await start();
      await boss.createQueue(queue, { retryDelay: 1, ...(isBest ? { notify: true } : {}) });
      await boss.createQueue(foreignQueue);
    },
    async connect() {
      await pool.query("select 1");
    },
    async enqueue(job, delayMs) {
      await boss.send(queue, job, delayMs > 0 ? { startAfter: new Date(Date.now() + delayMs) } : {});
    },
    async enqueueMany(jobs) {
      await boss.insert(
        queue,
        jobs.map((data) => ({ data })),
      );
    },
    enqueueTogether: (jobs) =>
      inTransaction(pool, (client) =>
        boss.insert(
          queue,
          jobs.map((data) => ({ data })),
          { db: throughOneClient(client) },
        ),
      ),
    async enqueueInTransaction(job) {
      await inTransaction(pool, (client) => boss.send(queue, job, { db: throughOneClient(client) }));
    },
    async insertBacklog(backlog, jobs) {
      await pool.query(
        `insert into pgboss.job (name, data, start_after, expire_seconds, deletion_seconds, keep_until, retry_limit, retry_delay, retry_backoff, policy)
         select q.name, jsonb_build_object('id', i, 'hello', 'world'), now(), q.expire_seconds, q.deletion_seconds,
                now() + interval '14 days', q.retry_limit, q.retry_delay, q.retry_backoff, q.policy
           from pgboss.queue q, generate_series(1, $2::int) i where q.name = $1`,
        [queueOf(backlog), jobs],
      );
      await pool.query("vacuum (analyze) pgboss.job");
    },
    async work(onStart) {
      await start();
      const best = aim === "throughput" ? bestForThroughput : bestForLatency;
      const poll = pollMs === undefined ? {} : { pollingIntervalSeconds: pollMs / 1_000, notifyPollingIntervalSeconds: pollMs / 1_000 };
      await boss.work<BenchJob>(queue, { ...(isBest ? best : {}), ...poll }, async (batch) => handle(batch, onStart));
    },
    async isDrained() {
      const { rows } = await pool.query<{ left: boolean }>("select exists (select from pgboss.job where state < 'completed') as left");
      return rows[0]?.left === false;
    },
    async stop() {
      await boss.offWork(queue);
    },
    isClaim: (statement) => /skip locked/i.test(statement) && statement.includes("started_on") && statement.includes("'active'"),
  };
}

function handle(batch: readonly { readonly data: BenchJob }[], onStart: OnStart): void {
  const outcomes = batch.map(({ data }) => onStart(data));
  if (outcomes.includes("fail")) throw new Error("Once.");
}

function queueOf(backlog: Backlog): string {
  if (backlog === "due") return queue;
  if (backlog === "foreign") return foreignQueue;
  throw new Error(`No backlog of the sort ${backlog} here.`);
}

serveRunner(pgBoss);
