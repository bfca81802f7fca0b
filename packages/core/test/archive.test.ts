import { createQueue, job } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import type { Kysely } from "kysely";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { schemaPlans } from "../src/functions/install-functions.js";
import { kyselyOn } from "./support/kysely-on.js";
import { openSession } from "./support/session.js";
import { rejectionOf } from "./support/thrown-by.js";
import { workerOn } from "./support/worker-on.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job<number>() } });
let db: Kysely<object>;
let worker: ReturnType<typeof workerOn>;

beforeAll(() => {
  db = kyselyOn<object>(database.pool);
  worker = workerOn(db);
});

afterEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.jobs_archive");
  await worker.maintainArchive();
});

/** By their days from today, UTC; the default one is left out. */
async function partitions(): Promise<number[]> {
  const { rows } = await database.pool.query<{ days: number }>(
    `select to_date(right(relname, 8), 'YYYYMMDD') - (now() at time zone 'UTC')::date as days
       from pg_inherits join pg_class c on c.oid = inhrelid
      where inhparent = 'queue.jobs_archive'::regclass and relname ~ '^jobs_archive_\\d{8}$' order by days`,
  );
  return rows.map(({ days }) => days);
}

async function nameOf(days: number): Promise<string> {
  const { rows } = await database.pool.query<{ name: string }>(
    "select 'queue.jobs_archive_' || to_char((now() at time zone 'UTC')::date + $1::int, 'YYYYMMDD') as name",
    [days],
  );
  return rows[0]?.name ?? "";
}

const drop = async (days: number) => database.pool.query(`drop table ${await nameOf(days)}`);

async function createPast(days: number): Promise<void> {
  const name = await nameOf(-days);
  const { rows } = await database.pool.query<{ from: string; until: string }>(
    "select ((now() at time zone 'UTC')::date - $1::int)::text as from, ((now() at time zone 'UTC')::date - $1::int + 1)::text as until",
    [days],
  );
  await database.pool.query(
    `create table ${name} partition of queue.jobs_archive for values from ('${rows[0]?.from} 00:00Z') to ('${rows[0]?.until} 00:00Z')`,
  );
}

/** A job that ended so many days ago and is kept until so many hours from now. */
async function archive(daysAgo: number, keepHours: number): Promise<void> {
  await database.pool.query(
    `insert into queue.jobs_archive (id, run_at, created_at, finished_at, keep_until, claims, attempts, max_attempts, redrives, status, priority, lane, kind, errors)
     values (nextval('queue.jobs_id_seq'), now(), now(), date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' - $1::int * interval '24 hours' + interval '1 hour',
             now() + $2::float8 * interval '1 hour', 1, 1, 1, 0, 'done', 5, 'default', 'a', '[]')`,
    [daysAgo, keepHours],
  );
}

async function completeOne(): Promise<string> {
  const { id } = await queue.enqueue(db, "a", 1);
  expect(await worker.complete(await worker.claim({ limit: 1 }))).toEqual([id]);
  const { rows } = await database.pool.query<{ partition: string }>(
    "select tableoid::regclass::text as partition from queue.jobs_archive where id = $1",
    [id],
  );
  return rows[0]?.partition ?? "nowhere";
}

describe("maintain_archive", () => {
  test("keeps a partition for today and each of the next seven days, and makes those that are missing", async () => {
    expect(await partitions()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(await worker.maintainArchive()).toBe(0);
    await drop(3);
    await drop(7);
    expect(await worker.maintainArchive()).toBe(2);
    expect(await partitions()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(await completeOne()).toBe(await nameOf(0));
  });

  test("makes the same partition whatever the session's time zone and date style are", async () => {
    const bounds = async () => {
      const { rows } = await database.pool.query(
        "select relname, pg_get_expr(relpartbound, oid) as bound from pg_class where relname ~ '^jobs_archive_2' order by 1",
      );
      return rows;
    };
    const before = await bounds();
    for (const [timezone, datestyle] of [
      ["Pacific/Kiritimati", "German"],
      ["America/New_York", "SQL, DMY"],
    ] as const) {
      await drop(5);
      await using session = await openSession(database.url, { timezone, datestyle });
      expect(await workerOn(session.executor).maintainArchive()).toBe(1);
      expect(await bounds()).toEqual(before);
      expect(await session.query("select current_setting('TimeZone') as zone, current_setting('lock_timeout') as wait")).toEqual([
        { zone: timezone, wait: "0" },
      ]);
    }
  });

  test("drops the past days in which no job has to be kept, and no other", async () => {
    for (const days of [1, 2, 3, 4]) await createPast(days);
    await archive(1, -1);
    await archive(2, -1);
    await archive(2, 1);
    await archive(4, -0.001);
    await archive(0, -1);
    // Without jobs: 3. Without any that must be kept: 1, 4, and today, which stays for what is still to come.
    expect(await worker.maintainArchive()).toBe(3);
    expect(await partitions()).toEqual([-2, 0, 1, 2, 3, 4, 5, 6, 7]);
    const { rows } = await database.pool.query("select count(*)::int as count from queue.jobs_archive");
    expect(rows).toEqual([{ count: 3 }]);
    await database.pool.query("update queue.jobs_archive set keep_until = now() - interval '1 second'");
    expect(await worker.maintainArchive()).toBe(1);
  });

  test("the second of two callers returns at once", async () => {
    await drop(6);
    await using first = await openSession(database.url, { statement_timeout: "5s" });
    await using second = await openSession(database.url, { statement_timeout: "5s" });
    await first.query("begin");
    expect(await workerOn(first.executor).maintainArchive()).toBe(1);
    expect(await workerOn(second.executor).maintainArchive()).toBe(0);
    await first.query("commit");
  });

  test("gives up when somebody reads the archive, and holds no settle up meanwhile", async () => {
    await drop(6);
    await using reader = await openSession(database.url);
    await reader.query("begin");
    await reader.query("select count(*) from queue.jobs_archive");
    const [error, partition] = await Promise.all([rejectionOf(worker.maintainArchive()), completeOne()]);
    expect(error).toMatchObject({ code: "55P03" });
    expect(partition).toBe(await nameOf(0));
    expect(await partitions()).toEqual([0, 1, 2, 3, 4, 5, 7]);
    await reader.query("commit");
    expect(await worker.maintainArchive()).toBe(1);
  });
});

describe("where it never runs, or too late", () => {
  test("the default partition takes the jobs of a missing day, which then waits until they are gone", async () => {
    await drop(0);
    expect(await completeOne()).toBe("queue.jobs_archive_default");
    expect(await queue.admin(db).jobs({ status: "done" })).toMatchObject({ items: [{ status: "done" }] });
    expect(await worker.maintainArchive()).toBe(0);
    expect(await partitions()).toEqual([1, 2, 3, 4, 5, 6, 7]);
    await database.pool.query("update queue.jobs_archive_default set keep_until = now() - interval '1 second'");
    expect(await worker.deleteEnded()).toMatchObject({ archived: "1" });
    expect(await worker.maintainArchive()).toBe(1);
    expect(await completeOne()).toBe(await nameOf(0));
  });
});

describe("the functions (B105)", () => {
  test("carry their own search_path, and come back from their definitions as a dump writes them", async () => {
    const { rows } = await database.pool.query<{ name: string; config: string[]; definition: string; security: boolean }>(
      "select proname as name, proconfig as config, pg_get_functiondef(oid) as definition, prosecdef as security from pg_proc where pronamespace = 'queue'::regnamespace order by 1",
    );
    expect(rows.filter(({ security }) => security).map(({ name }) => name)).toEqual(["maintain_archive"]);
    expect(rows.map(({ name }) => name)).toContain("announce_jobs");
    // Those that keep plans have that of the session, as the statements that they run.
    const keepPlans = schemaPlans("queue").map(({ name }) => name);
    expect(rows.filter(({ config }) => !config.includes('search_path=""')).map(({ name }) => name)).toEqual(keepPlans.toSorted());
    await using restoring = await openSession(database.url, { search_path: "", check_function_bodies: "off" });
    for (const { definition } of rows) await restoring.query(definition);
    await drop(4);
    expect(await workerOn(restoring.executor).maintainArchive()).toBe(1);
    expect(await queue.enqueue(restoring.executor, "a", 1)).toMatchObject({ inserted: true });
  });

  test("each partition is sampled a tenth as much as other tables, because it is analysed whenever it has grown", async () => {
    const { rows } = await database.pool.query<{ name: string; targets: (number | null)[] }>(
      `select c.relname as name, array_agg(distinct a.attstattarget::int) as targets
         from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
        where i.inhparent = 'queue.jobs_archive'::regclass group by 1`,
    );
    expect(rows.length).toBeGreaterThan(2);
    for (const { targets } of rows) expect(targets).toEqual([10]);
  });

  test("nobody but those who were granted it may call the one that runs with its owner's rights", async () => {
    const { rows } = await database.pool.query("select has_function_privilege('public', 'queue.maintain_archive()', 'execute') as anybody");
    expect(rows).toEqual([{ anybody: false }]);
  });
});
