import { useTestDatabase } from "@queue/test-database";
import { describe, expect, it } from "vitest";
import { runDoctor, runDoctorForPeople } from "./support/doctor.js";

describe("queue doctor on tables as they should be", () => {
  const database = useTestDatabase();

  it("finds nothing, ends with 0, and leaves nothing behind", async () => {
    const schemas = async () => (await database.pool.query<{ nspname: string }>("select nspname from pg_namespace order by 1")).rows;
    const before = await schemas();
    const { code, checks } = await runDoctor(database.url);
    expect(checks.filter(({ status }) => status !== "fine")).toEqual([]);
    expect(checks.map(({ check }) => check)).toContain("tables as migrated");
    expect(code).toBe(0);
    expect(await schemas()).toEqual(before);
  });

  it("says so to people", async () => {
    const { code, stdout, stderr } = await runDoctorForPeople(database.url);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^fine {5}rights\n/);
    expect(stdout).toMatch(/\n\nNothing is wrong\.\n$/);
  });
});

describe("queue doctor on the wrong tables", () => {
  const database = useTestDatabase({ template: "empty" });

  it("finds that they are missing, says what to do, and ends with 3", async () => {
    const { code, stdout } = await runDoctorForPeople(database.url);
    expect(code).toBe(3);
    expect(stdout).toContain('The tables of the queue are not in schema "queue" of this database.');
    expect(stdout).toContain("Run `queue migrate`");
    expect(stdout).toMatch(/^skipped {2}tables as migrated: the tables are not there/m);
    expect(stdout).toContain("1 thing is wrong.");
  });
});

describe("queue doctor on tables of another version", () => {
  const database = useTestDatabase();

  it.each([
    ["newer ones that it works with", "insert into queue.migrations values ('9999-next', false)", "does not know 9999-next"],
    [
      "newer ones that break it",
      "update queue.migrations set breaks_older_workers = true where name = '9999-next'",
      "which breaks this version",
    ],
    ["older ones", "delete from queue.migrations where name = '0001-initial'", "this version needs 0001-initial"],
  ])("finds %s", async (_name, change, part) => {
    await database.pool.query(change);
    const { code, of } = await runDoctor(database.url);
    expect(code).toBe(3);
    expect(of("schema version")?.findings[0]?.message).toContain(part);
  });
});

describe("queue doctor on tables that somebody changed", () => {
  const database = useTestDatabase();

  it.each([
    [
      "an index that is missing",
      "drop index queue.jobs_claim",
      "create index jobs_claim on queue.jobs (lane, priority, run_at, id) where status = 'queued'",
      "The index jobs.jobs_claim is missing.",
    ],
    [
      "an index too many",
      "create index mine on queue.jobs (locked_until)",
      "drop index queue.mine",
      "The index jobs.mine is not of the queue.",
    ],
    [
      "a trigger that is disabled",
      "alter table queue.jobs disable trigger announce_jobs",
      "alter table queue.jobs enable trigger announce_jobs",
      "The trigger jobs.announce_jobs is not as the migration makes it: ",
    ],
    [
      "a trigger too many",
      "create trigger mine before insert on queue.jobs for each row execute function suppress_redundant_updates_trigger()",
      "drop trigger mine on queue.jobs",
      "The trigger jobs.mine is not of the queue.",
    ],
    [
      "a column of another type",
      "alter table queue.lanes alter paused_at type timestamp",
      "alter table queue.lanes alter paused_at type timestamptz",
      "The column lanes.paused_at is not as the migration makes it: timestamp without time zone",
    ],
    [
      "a column too many",
      "alter table queue.effects add note text",
      "alter table queue.effects drop note",
      "The column effects.note is not of the queue.",
    ],
    [
      "a default that is gone",
      "alter table queue.jobs alter priority drop default",
      "alter table queue.jobs alter priority set default 5",
      "The column jobs.priority is not as the migration makes it: ",
    ],
    [
      "a function with another body",
      "create function queue.kept() returns integer language sql as 'select 0'; alter function queue.maintain_archive rename to kept_for_later; alter function queue.kept rename to maintain_archive",
      "drop function queue.maintain_archive; alter function queue.kept_for_later rename to maintain_archive",
      "The function maintain_archive is not as the migration makes it: ",
    ],
    [
      "a table that is missing",
      "alter table queue.effects set schema public",
      "alter table public.effects set schema queue",
      "The table effects is missing.",
    ],
  ])("finds %s", async (_name, trouble, undo, part) => {
    await database.pool.query(trouble);
    try {
      const { code, of } = await runDoctor(database.url);
      expect(code).toBe(3);
      expect(of("tables as migrated")?.findings.map(({ message }) => message)).toContainEqual(expect.stringContaining(part));
    } finally {
      await database.pool.query(undo);
    }
  });

  it("does not mind settings of vacuum, and tables of the application in the same schema", async () => {
    await database.pool.query("alter table queue.jobs set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 50000)");
    await database.pool.query("create table queue.mine (id int primary key)");
    expect((await runDoctor(database.url)).found).toEqual([]);
  });

  it("finds a foreign key to jobs", async () => {
    await database.pool.query("create table public.mine (job_id bigint references queue.jobs)");
    const { of } = await runDoctor(database.url);
    expect(of("foreign keys to jobs")?.findings).toEqual([
      {
        message: "mine has a foreign key to jobs, mine_job_id_fkey: jobs that it refers to can never end.",
        advice: "Join by id instead: alter table mine drop constraint mine_job_id_fkey;",
      },
    ]);
    await database.pool.query("drop table public.mine");
  });
});

describe("queue doctor on the partitions of the archive", () => {
  const database = useTestDatabase();
  const day = async (offset: number) => {
    const { rows } = await database.pool.query<{ day: string }>(
      `select to_char(now() at time zone 'UTC' + $1 * interval '1 day', 'YYYYMMDD') as day`,
      [offset],
    );
    return rows[0]?.day ?? "";
  };

  it("finds the one of tomorrow missing, and the function that makes it", async () => {
    const tomorrow = await day(1);
    await database.pool.query(`drop table queue.jobs_archive_${tomorrow}`);
    const { code, of } = await runDoctor(database.url);
    expect(code).toBe(3);
    expect(of("archive partitions")?.findings).toHaveLength(1);
    expect(of("archive partitions")?.findings[0]).toMatchObject({
      message: expect.stringContaining(`no partition for ${tomorrow}`) as string,
      advice: expect.stringContaining('"queue".maintain_archive()') as string,
    });
    await database.pool.query("select queue.maintain_archive()");
    expect((await runDoctor(database.url)).code).toBe(0);
  });

  it("finds one that should have been dropped", async () => {
    await database.pool.query(
      "create table queue.jobs_archive_20200101 partition of queue.jobs_archive for values from ('2020-01-01') to ('2020-01-02')",
    );
    expect((await runDoctor(database.url)).text).toContain("Nothing in jobs_archive_20200101 has to be kept any longer");
    await database.pool.query("select queue.maintain_archive()");
    expect((await runDoctor(database.url)).code).toBe(0);
  });

  it("finds rows that no day had a partition for", async () => {
    await database.pool.query(
      `insert into queue.jobs_archive (id, run_at, created_at, finished_at, keep_until, claims, attempts, max_attempts, redrives, status, priority, lane, kind, errors)
       values (1, now(), now(), '2020-01-01', now() + interval '1 day', 1, 1, 8, 0, 'done', 5, 'default', 'tick', '[]')`,
    );
    expect((await runDoctor(database.url)).text).toContain("1 row is in jobs_archive_default");
  });
});
