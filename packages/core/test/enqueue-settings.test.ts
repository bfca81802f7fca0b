import { createQueue, job } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { kyselyOn } from "./support/kysely-on.js";
import { openSession } from "./support/session.js";
import { wholeLife } from "./support/whole-life.js";
import { workerOn } from "./support/worker-on.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job<{ n: number }>({ keep: "1d" }) } });

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.job_keys, queue.jobs_archive, queue.lanes");
});

describe("search_path (B105)", () => {
  beforeAll(async () => {
    await database.pool.query(`
      create schema evil;
      create table evil.called (name text);
      create table evil.jobs (like queue.jobs including defaults);
      create table evil.lanes (like queue.lanes);
      create table evil.job_keys (like queue.job_keys);
      create function evil.now() returns timestamptz language plpgsql as $$ begin insert into evil.called values ('now'); return 'infinity'; end $$;
      create function evil.clock_timestamp() returns timestamptz language plpgsql as $$ begin insert into evil.called values ('clock_timestamp'); return '-infinity'; end $$;
      create function evil.statement_timestamp() returns timestamptz language plpgsql as $$ begin insert into evil.called values ('statement_timestamp'); return '-infinity'; end $$;
      create function evil.unnest(anyarray) returns setof anyelement language plpgsql as $$ begin insert into evil.called values ('unnest'); return; end $$;
      create function evil.jsonb_to_recordset(jsonb) returns setof record language plpgsql as $$ begin insert into evil.called values ('jsonb_to_recordset'); return; end $$;
      create function evil.pg_notify(text, text) returns void language plpgsql as $$ begin insert into evil.called values ('pg_notify'); end $$;
      create function evil.nextval(regclass) returns bigint language plpgsql as $$ begin insert into evil.called values ('nextval'); return 1; end $$;
    `);
  });

  test("an empty one is enough for everything", async () => {
    await using session = await openSession(database.url, { search_path: "" });
    await expect(wholeLife(session.executor)).resolves.toBeUndefined();
  });

  test("a hostile schema before pg_catalog is never called, and its tables stay empty", async () => {
    await using session = await openSession(database.url, { search_path: "evil, pg_catalog" });
    expect(await session.query("select now() = 'infinity' as shadowed")).toEqual([{ shadowed: true }]);
    await database.pool.query("truncate evil.called");
    await wholeLife(session.executor);
    const { rows } = await database.pool.query(
      "select (select count(*)::int from evil.called) as called, (select count(*)::int from evil.jobs) as jobs, (select count(*)::int from evil.job_keys) as keys",
    );
    expect(rows).toEqual([{ called: 0, jobs: 0, keys: 0 }]);
  });
});

describe("time zones (B82)", () => {
  test("every time column has a zone", async () => {
    const { rows } = await database.pool.query(
      "select table_name, column_name from information_schema.columns where table_schema = 'queue' and data_type like '%without time zone%'",
    );
    expect(rows).toEqual([]);
  });

  test.each(["UTC", "Asia/Tokyo", "America/New_York", "Asia/Kathmandu"])(
    "a session in %s stores and reads the same instants",
    async (timezone) => {
      await using session = await openSession(database.url, { timezone, datestyle: "German, DMY", intervalstyle: "iso_8601" });
      const runAt = new Date("2031-03-30T01:30:00.123Z");
      const { id } = await queue.enqueue(session.executor, "a", { n: 1 }, { runAt });
      const soon = await queue.enqueue(session.executor, "a", { n: 2 }, { delay: "10s" });
      const { rows } = await database.pool.query(
        `select run_at = timestamptz '2031-03-30 01:30:00.123Z' as exact,
              abs(extract(epoch from clock_timestamp() - created_at)) < 5 as fresh from queue.jobs where id = $1`,
        [id],
      );
      expect(rows).toEqual([{ exact: true, fresh: true }]);
      const late = await database.pool.query(
        "select abs(extract(epoch from run_at - created_at) - 10) < 0.05 as exact from queue.jobs where id = $1",
        [soon.id],
      );
      expect(late.rows).toEqual([{ exact: true }]);
      const record = await queue.admin(session.executor).job(id);
      expect(record?.runAt).toEqual(runAt);
      expect(Math.abs((record?.createdAt.getTime() ?? 0) - Date.now())).toBeLessThan(5_000);
    },
  );
});

describe("the clock of the process (B83)", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  test.each([
    ["an hour behind", -3_600_000],
    ["an hour ahead", 3_600_000],
  ])("%s changes nothing: what is stored is by the database's", async (_name, offsetMs) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + offsetMs });
    const db = kyselyOn(database.pool);
    const now = await queue.enqueue(db, "a", { n: 1 });
    const delayed = await queue.enqueue(db, "a", { n: 2 }, { delay: 1_500 });
    await queue.enqueue(db, "a", { n: 3 }, { key: "k", keyHolds: "1h" });
    expect(await queue.enqueue(db, "a", { n: 3 }, { key: "k", keyHolds: "1h" })).toMatchObject({ inserted: false });
    const worker = workerOn(db);
    expect((await worker.claim({ limit: 1 }))[0]).toMatchObject({ id: now.id });
    expect(await worker.sweep()).toEqual([]);
    const { rows } = await database.pool.query(
      `select abs(extract(epoch from run_at - created_at) - 1.5) < 0.05 as delayed,
              (select locked_until > clock_timestamp() from queue.jobs where id = $2) as leased
         from queue.jobs where id = $1`,
      [delayed.id, now.id],
    );
    expect(rows).toEqual([{ delayed: true, leased: true }]);
  });

  test("a runAt in the past is now, so that a cursor need not look behind itself", async () => {
    const db = kyselyOn(database.pool);
    await queue.enqueue(db, "a", { n: 1 }, { runAt: new Date(0) });
    await queue.enqueue(db, "a", { n: 1 }, { runAt: new Date(0), key: "k" });
    const { rows } = await database.pool.query(
      "select count(*)::int as count from queue.jobs where run_at < created_at - interval '1 second'",
    );
    expect(rows).toEqual([{ count: 0 }]);
  });

  test("run_at is the moment of the enqueue, not the begin of a long transaction", async () => {
    await using session = await openSession(database.url);
    await session.query("begin");
    await session.query("select 1");
    const [{ moment } = { moment: "" }] = await session.query<{ moment: string }>("select clock_timestamp()::text as moment");
    await queue.enqueue(session.executor, "a", { n: 1 });
    await queue.enqueue(session.executor, "a", { n: 1 }, { key: "k" });
    expect(await session.query("select bool_and(run_at >= $1::timestamptz) as later from queue.jobs", [moment])).toEqual([{ later: true }]);
    await session.query("commit");
  });
});
