import { setTimeout as pause } from "node:timers/promises";
import { createQueue, type QueueDatabase } from "@queue/core";
import { migrate } from "@queue/core/migrations";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { inTransaction } from "../runner/in-transaction.js";
import { serveRunner } from "../runner/serve-runner.js";
import type { Backlog, BenchJob, OnStart, System, SystemOptions } from "../runner/system.js";

const batch = 100;
const loops = 2;
const pollMs = 1_000;
const channel = "raw";

const insertOne = "insert into queue.jobs (kind, payload) values ('noop', $1::jsonb)";
const insertMany = "insert into queue.jobs (kind, payload) select 'noop', unnest($1::jsonb[])";

const claim = `with c as materialized (
  select id from queue.jobs
   where status = 'queued' and lane = 'default' and priority = 5 and run_at <= now() and coalesce(kind = any('{noop}'), false)
   order by run_at, id limit ${batch} for no key update skip locked)
update queue.jobs set status = 'running', locked_until = now() + interval '30 seconds', started_at = now(),
       attempts = attempts + 1, claims = claims + 1, worker = 'raw'
 where id = any(array(select id from c)) returning id::text, payload::text`;

/**
 * What a library has to beat: our tables without our trigger, the shortest statements that do the same work, a claim of a
 * hundred and its settlement one after the other on two connections. No retries, no leases kept, no cursor.
 */
function rawSql({ url, connections = 10 }: SystemOptions): System {
  const pool = new pg.Pool({ connectionString: url, max: connections });
  const stopping = new AbortController();
  let worker: Promise<unknown> = Promise.resolve();
  const asTexts = (jobs: readonly BenchJob[]) => [jobs.map((job) => JSON.stringify(job))];
  return {
    retryDelayMs: 0,
    async install() {
      const db = new Kysely<QueueDatabase>({ dialect: new PostgresDialect({ pool }) });
      await migrate(db, createQueue({ jobs: {} }));
      await pool.query(dropTriggers);
    },
    async connect() {
      await pool.query("select 1");
    },
    async enqueue(job) {
      await pool.query(`with i as (${insertOne} returning id) select pg_notify('${channel}', '') from i`, [JSON.stringify(job)]);
    },
    async enqueueMany(jobs) {
      await pool.query(insertMany, asTexts(jobs));
    },
    enqueueTogether: (jobs) =>
      inTransaction(pool, async (client) => {
        await client.query(insertMany, asTexts(jobs));
        await client.query(`notify ${channel}`);
      }),
    async enqueueInTransaction(job) {
      await inTransaction(pool, (client) => client.query(insertOne, [JSON.stringify(job)]));
    },
    async insertBacklog(backlog, jobs) {
      await pool.query(
        `insert into queue.jobs (kind, payload) select $1, jsonb_build_object('id', i, 'hello', 'world') from generate_series(1, $2::int) i`,
        [kindOf(backlog), jobs],
      );
      await pool.query("vacuum (analyze) queue.jobs");
    },
    async work(onStart) {
      const settle = await settleStatement(pool);
      const bell = new EventTarget();
      const listening = new pg.Client({ connectionString: url });
      await listening.connect();
      listening.on("notification", () => bell.dispatchEvent(new Event("ring")));
      await listening.query(`listen ${channel}`);
      const drains = Array.from({ length: loops }, () => work({ pool, bell, settle, onStart, signal: stopping.signal }));
      worker = Promise.all(drains).then(() => listening.end());
    },
    async isDrained() {
      const { rows } = await pool.query<{ left: boolean }>("select exists (select from queue.jobs) as left");
      return rows[0]?.left === false;
    },
    async stop() {
      stopping.abort();
      await worker;
    },
    isClaim: (statement) => statement === claim,
  };
}

interface Loop {
  readonly pool: pg.Pool;
  readonly bell: EventTarget;
  readonly settle: string;
  readonly onStart: OnStart;
  readonly signal: AbortSignal;
}

async function work({ pool, bell, settle, onStart, signal }: Loop): Promise<void> {
  const client = await pool.connect();
  try {
    while (!signal.aborted) {
      const awake = new AbortController();
      const wake = () => awake.abort();
      bell.addEventListener("ring", wake, { once: true });
      const { rows } = await client.query<{ id: string; payload: string }>({ name: "claim", text: claim });
      for (const { payload } of rows) onStart(JSON.parse(payload) as BenchJob);
      if (rows.length > 0) await client.query({ name: "settle", text: settle, values: [rows.map(({ id }) => id)] });
      else await pause(pollMs, undefined, { signal: AbortSignal.any([awake.signal, signal]) }).catch(() => {});
      bell.removeEventListener("ring", wake);
    }
  } finally {
    client.release();
  }
}

/** Moves jobs to the archive. Written from the columns that the tables have, so that a migration does not make it wrong. */
async function settleStatement(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ name: string; in_jobs: boolean; is_optional: boolean }>(
    `select a.attname as name, a.attname in (select attname from pg_attribute where attrelid = 'queue.jobs'::regclass) as in_jobs,
            not a.attnotnull as is_optional
       from pg_attribute a where a.attrelid = 'queue.jobs_archive'::regclass and a.attnum > 0 and not a.attisdropped`,
  );
  const values: Readonly<Record<string, string>> = { status: "'done'", finished_at: "now()", keep_until: "now() + interval '7 days'" };
  const columns = rows.filter(({ name, in_jobs, is_optional }) => name in values || in_jobs || !is_optional);
  return `with gone as (delete from queue.jobs where id = any($1::bigint[]) and worker = 'raw' returning *)
    insert into queue.jobs_archive (${columns.map(({ name }) => name).join(", ")})
    select ${columns.map(({ name }) => values[name] ?? name).join(", ")} from gone`;
}

function kindOf(backlog: Backlog): string {
  if (backlog === "due") return "noop";
  if (backlog === "foreign") return "foreign";
  throw new Error(`No backlog of the sort ${backlog} here.`);
}

const dropTriggers = `do $$
declare name text;
begin
  for name in select tgname from pg_trigger where tgrelid = 'queue.jobs'::regclass and not tgisinternal loop
    execute format('drop trigger %I on queue.jobs', name);
  end loop;
end $$`;

serveRunner(rawSql);
