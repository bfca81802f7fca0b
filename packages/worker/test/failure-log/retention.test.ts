import { describe, expect, test } from "vitest";
import { createWorkerStatements, PlanKeeper, toDatabase, workerPlans } from "@queue/core/internal";
import { Database } from "../../src/database/database.js";
import { Janitor } from "../../src/maintenance/janitor.js";
import { systemClock } from "../../src/time/clock.js";
import { recordLogger } from "../support/recorded-logger.js";
import { useWorkers } from "../support/use-workers.js";

const workers = useWorkers();
const rows = 50_000;

/** A janitor whose statements are ended after a while, as an administrator may have set it. */
function janitorUnder(statementTimeout: string) {
  const errors: unknown[] = [];
  const db = workers.open({ options: `-c statement_timeout=${statementTimeout}` });
  const statements = createWorkerStatements("queue");
  const plans = new PlanKeeper("queue", workerPlans("queue", statements));
  const database = new Database(toDatabase(db), { clock: systemClock, patienceMs: 30_000, fallback: () => undefined, plans });
  const janitor = new Janitor({
    database,
    statements,
    clock: systemClock,
    logger: recordLogger(),
    onError: (error) => errors.push(error),
  });
  return { janitor, errors };
}

async function count(table: string): Promise<number> {
  const [row] = await workers.sql<{ count: string }>(`select count(*) from ${table}`);
  return Number(row?.count);
}

const expired = "now() - interval '1 day'";
const tables = {
  jobs_archive_default: `insert into queue.jobs_archive_default (id, run_at, created_at, finished_at, keep_until, claims, attempts, max_attempts, redrives, status, priority, lane, kind, errors)
    select n, now(), now(), '2020-01-01', ${expired}, 1, 1, 1, 0, 'done', 5, 'default', 'a', '[]' from generate_series(1, $1::int) n`,
  job_keys: `insert into queue.job_keys (kind, key, job_id, expires_at) select 'a', n::text, n, ${expired} from generate_series(1, $1::int) n`,
  effects: `insert into queue.effects (kind, key, job_id, started_by, started_claims) select 'a', 'k', n, n, 1 from generate_series(1, $1::int) n`,
};

describe(`B48: ${rows} rows that may go, under a statement_timeout of a second`, () => {
  test.each(Object.entries(tables))("of %s go in bounded batches, and no statement is ended", async (table, fill) => {
    await workers.sql(fill, [rows]);
    await workers.sql(`create table batches (size int);
      create function note_batch() returns trigger language plpgsql as 'begin insert into batches select count(*) from gone; return null; end';
      create trigger note_batch after delete on queue.${table} referencing old table as gone for each statement execute function note_batch()`);
    try {
      const { janitor, errors } = janitorUnder("1s");
      await janitor.clean();
      expect(errors).toEqual([]);
      expect(await count(`queue.${table}`)).toBe(0);
      const [sizes] = await workers.sql<{ largest: number; sum: string }>("select max(size) as largest, sum(size) as sum from batches");
      expect(Number(sizes?.sum)).toBe(rows);
      expect(sizes?.largest).toBeLessThanOrEqual(2_000);
    } finally {
      await workers.sql("drop function note_batch() cascade; drop table batches");
    }
  });

  test("and that somebody holds wait for the next time, while the others go", async () => {
    await workers.sql(tables.job_keys, [3_000]);
    const client = await workers.database.pool.connect();
    try {
      await client.query("begin; select from queue.job_keys where key = '7' for update");
      await janitorUnder("1s").janitor.clean();
      expect(await count("queue.job_keys")).toBe(1);
      await client.query("rollback");
    } finally {
      client.release();
    }
    await janitorUnder("1s").janitor.clean();
    expect(await count("queue.job_keys")).toBe(0);
  });
});
