import type { Pool } from "pg";

/** Writes dead letters of `kind`; their ids. */
export async function insertDeadJobs(pool: Pool, kind: string, count: number): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `insert into queue.jobs (kind, status, attempts, last_error, errors)
     select $1, 'dead', 8, 'no such customer', '[{"attempt": 8, "at": "2026-11-29T12:00:00Z", "worker": "w", "name": "Error", "message": "no such customer"}]'
       from generate_series(1, $2::int) returning id::text`,
    [kind, count],
  );
  return rows.map(({ id }) => id);
}
