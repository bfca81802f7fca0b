import { readFile } from "node:fs/promises";
import { sql } from "kysely";
import type { Counts } from "./histogram.js";
import { keepDays, type SoakDatabase } from "./soak-queue.js";

export interface TableSize {
  readonly liveRows: number;
  readonly deadRows: number;
  readonly bytes: number;
}

/** What the server tells. */
export interface ServerSample {
  /** Until when, by the server's clock, what ended is counted. */
  readonly until: string;
  /** Jobs that were enqueued, by what committed, since the sample before. */
  readonly enqueued: number;
  /** Jobs that ended since the sample before. */
  readonly ended: number;
  /** Milliseconds between due and claimed, of the last attempt of those that were done. */
  readonly startLatency: Counts;
  /** By name; the partitions of the archive are one, and each index stands for itself. */
  readonly tables: Readonly<Record<string, TableSize>>;
  /** Private memory of the largest backend of each application, in bytes: plan and catalogue caches are in it. Linux only. */
  readonly backends: Readonly<Record<string, number>>;
  /** Position in the WAL, in bytes. */
  readonly wal: number;
}

export async function sampleServer(db: SoakDatabase, since: string | undefined): Promise<ServerSample> {
  const { until, enqueued, ended } = await countFlow(db, since);
  return {
    until,
    enqueued,
    ended: ended.reduce((sum, { count }) => sum + count, 0),
    startLatency: ended.flatMap(({ ms, count }) => (ms === null ? [] : [[ms, count] as const])),
    tables: await sizeTables(db),
    backends: await sizeBackends(db),
    wal: await readWalPosition(db),
  };
}

/** A transaction that writes an order or ends a job says when before it commits: so long ago all of them have. */
const lagMs = 1_000;

/**
 * What arrived and what ended from `since` on, both by the server's clock up to the same moment. The archive is read by
 * `keep_until`, which has an index that does not slow down as it grows: a seq scan would be a part of the load that is measured.
 */
async function countFlow(db: SoakDatabase, since: string | undefined) {
  return db.transaction().execute(async (trx) => {
    await sql`set local enable_seqscan = off`.execute(trx);
    const clock = await sql<{ until: string }>`
      select (clock_timestamp() - ${lagMs}::int * interval '1 millisecond')::text as until`.execute(trx);
    const until = clock.rows[0]?.until ?? "";
    if (since === undefined) return { until, enqueued: 0, ended: [] };
    const arrived = await sql<{ jobs: number }>`
      select coalesce(sum(jobs), 0)::float8 as jobs from orders where at >= ${since}::timestamptz and at < ${until}::timestamptz`.execute(
      trx,
    );
    const { rows: ended } = await sql<{ ms: number | null; count: number }>`
      select case when status = 'done' then greatest(0, round(extract(epoch from started_at - run_at) * 1000, 1))::float8 end as ms,
             count(*)::int as count
        from queue.jobs_archive
       where keep_until >= ${since}::timestamptz + ${keepDays}::int * interval '24 hours'
         and keep_until < ${until}::timestamptz + ${keepDays}::int * interval '24 hours'
       group by 1`.execute(trx);
    return { until, enqueued: arrived.rows[0]?.jobs ?? 0, ended };
  });
}

async function sizeTables(db: SoakDatabase): Promise<Record<string, TableSize>> {
  const { rows } = await sql<{ name: string; live: number; dead: number; bytes: number }>`
    select case when c.relname like 'jobs\\_archive%' then 'jobs_archive' else c.relname end as name,
           sum(coalesce(s.n_live_tup, 0))::float8 as live, sum(coalesce(s.n_dead_tup, 0))::float8 as dead,
           sum(pg_table_size(c.oid))::float8 as bytes
      from pg_class c left join pg_stat_all_tables s on s.relid = c.oid
     where c.relnamespace = 'queue'::regnamespace and c.relkind in ('r', 'i') group by 1`.execute(db);
  return Object.fromEntries(rows.map(({ name, live, dead, bytes }) => [name, { liveRows: live, deadRows: dead, bytes }]));
}

async function sizeBackends(db: SoakDatabase): Promise<Record<string, number>> {
  const { rows } = await sql<{ pid: number; application: string }>`
    select pid, application_name as application from pg_stat_activity
     where datname = current_database() and application_name like 'soak %'`.execute(db);
  const largest: Record<string, number> = {};
  for (const { pid, application } of rows) {
    const bytes = await privateMemory(pid);
    if (bytes !== undefined) largest[application] = Math.max(largest[application] ?? 0, bytes);
  }
  return largest;
}

/** Without the shared buffers, which every backend comes to touch. */
async function privateMemory(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const kilobytes = /^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1_024;
}

async function readWalPosition(db: SoakDatabase): Promise<number> {
  const { rows } = await sql<{ wal: number }>`select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as wal`.execute(db);
  return rows[0]?.wal ?? 0;
}
