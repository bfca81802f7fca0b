import pg from "pg";

const claim = `with c as materialized (
  select id from queue.jobs
   where status = 'queued' and lane = 'default' and priority = 5 and run_at <= now()
   order by run_at, id limit 100 for no key update skip locked)
update queue.jobs set status = 'running', locked_until = now() + interval '30 seconds', started_at = now(),
       attempts = attempts + 1, claims = claims + 1, worker = 'raw'
 where id = any(array(select id from c)) returning id::text, claims, payload::text`;

const settle = `with gone as (delete from queue.jobs where id = any($1::bigint[]) and worker = 'raw' returning *)
insert into queue.jobs_archive (id, run_at, created_at, started_at, finished_at, keep_until, claims, attempts, max_attempts,
       redrives, status, priority, lane, kind, idempotency_key, payload, worker, last_error, errors)
select id, run_at, created_at, started_at, now(), now() + interval '7 days', claims, attempts, max_attempts,
       redrives, 'done', priority, lane, kind, idempotency_key, payload, worker, last_error, errors from gone`;

/** The same work by two connections that each claim a batch and settle it, without a library; the milliseconds it took. */
export async function rawProcess(url: string, jobs: number): Promise<number> {
  const clients = await Promise.all([connect(url), connect(url)]);
  try {
    const began = performance.now();
    const handled = await Promise.all(clients.map(drain));
    const ms = performance.now() - began;
    const total = handled.reduce((sum, count) => sum + count, 0);
    if (total !== jobs) throw new Error(`Raw SQL handled ${total} of ${jobs} jobs.`);
    return ms;
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

async function drain(client: pg.Client): Promise<number> {
  for (let handled = 0; ;) {
    const { rows } = await client.query<{ id: string; payload: string }>(claim);
    if (rows.length === 0) return handled;
    for (const { payload } of rows) JSON.parse(payload);
    await client.query(settle, [rows.map(({ id }) => id)]);
    handled += rows.length;
  }
}
