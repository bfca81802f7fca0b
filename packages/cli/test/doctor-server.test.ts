import { readFile } from "node:fs/promises";
import { findPooler, startPooler, throughPooler, useTestDatabase } from "@queue/test-database";
import pg from "pg";
import { describe, expect, it, vi } from "vitest";
import { runDoctor } from "./support/doctor.js";
import { runCli } from "./support/run-cli.js";

describe("queue doctor on rights", () => {
  const database = useTestDatabase();
  // Roles belong to the server, and other files make theirs.
  const role = "doctors_app";

  it("finds each right that a role lacks, with the grant that gives it", async () => {
    const grants = await readFile(new URL("../../core/test/grants.sql", import.meta.url), "utf8");
    await database.pool.query(`create role ${role} login password 'pw'`);
    try {
      const none = await runDoctor(database.url, ["--role", role]);
      expect(none.code).toBe(3);
      for (const { advice } of none.of("rights")?.findings ?? []) {
        const grant = advice.replace("As the owner: ", "");
        expect(grant).toMatch(/^grant .* to doctors_app;$/);
        await database.pool.query(grant);
      }
      // What it says is enough, and what the guide says, too.
      expect(await runDoctor(database.url, ["--role", role])).toMatchObject({ code: 0, found: [] });
      await database.pool.query(`drop owned by ${role}`);
      await database.pool.query(grants.replaceAll(/\bapp\b/g, role));
      expect(await runDoctor(database.url, ["--role", role])).toMatchObject({ code: 0, found: [] });

      await database.pool.query(`revoke update on queue.jobs from ${role}`);
      expect((await runDoctor(database.url, ["--role", role])).of("rights")?.findings).toEqual([
        {
          message: `Role ${role} lacks update on "queue".jobs.`,
          advice: `As the owner: grant update on "queue".jobs to ${role};`,
        },
      ]);
    } finally {
      await database.pool.query(`drop owned by ${role}; drop role ${role}`);
    }
  });

  it("says what it could not look at, when its own role may not", async () => {
    await database.pool.query(`create role ${role} login password 'pw'`);
    const url = new URL(database.url);
    url.username = role;
    url.password = "pw";
    try {
      const { code, of } = await runDoctor(url.href);
      expect(code).toBe(3);
      expect(of("rights")?.findings[0]?.message).toBe(`Role ${role} lacks usage on schema "queue".`);
      expect(of("tables as migrated")?.status).toBe("skipped");
    } finally {
      await database.pool.query(`drop role ${role}`);
    }
  });

  it("finds that there is no such role", async () => {
    expect((await runDoctor(database.url, ["--role", "nobody_at_all"])).text).toContain('There is no role "nobody_at_all".');
  });
});

describe("queue doctor on a held snapshot", () => {
  const database = useTestDatabase();

  it("names who holds it, and how to end that", async () => {
    const client = new pg.Client({ connectionString: database.url, application_name: "the report" });
    await client.connect();
    try {
      await client.query("begin isolation level repeatable read");
      const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
      const { code, of } = await runDoctor(database.url, ["--held-for", "0"]);
      expect(code).toBe(3);
      expect(of("held snapshots")?.findings).toHaveLength(1);
      expect(of("held snapshots")?.findings[0]).toMatchObject({
        message: expect.stringMatching(`^The session ${rows[0]?.pid} \\(the report, .*, idle in transaction\\) keeps ended rows`) as string,
        advice: expect.stringContaining(`select pg_terminate_backend(${rows[0]?.pid})`) as string,
      });
      // It is young yet.
      expect((await runDoctor(database.url)).code).toBe(0);
    } finally {
      await client.end();
    }
  });
});

describe("queue doctor on dead rows", () => {
  const database = useTestDatabase();

  it("finds that they are not removed", async () => {
    await database.pool.query("alter table queue.jobs set (autovacuum_enabled = false)");
    await database.pool.query("vacuum queue.jobs");
    await database.pool.query("insert into queue.jobs (kind) select 'tick' from generate_series(1, 300)");
    await database.pool.query("delete from queue.jobs");
    await vi.waitUntil(
      async () => {
        const { rows } = await database.pool.query<{ n: number }>(
          "select n_dead_tup::int as n from pg_stat_all_tables where relid = 'queue.jobs'::regclass",
        );
        return (rows[0]?.n ?? 0) >= 300;
      },
      { timeout: 20_000 },
    );
    const { code, text } = await runDoctor(database.url, ["--dead-rows", "300"]);
    expect(code).toBe(3);
    expect(text).toMatch(/300 ended rows of jobs wait to be removed; it was vacuumed last at .*vacuum "queue"\.jobs/);
    expect((await runDoctor(database.url)).code).toBe(0);
  });
});

describe("queue doctor on kinds without a worker", () => {
  const database = useTestDatabase();

  it("names them, until a worker has a handler", async () => {
    await database.pool.query("insert into queue.jobs (kind) values ('report')");
    expect((await runDoctor(database.url)).text).toContain('Jobs of kind "report" wait, and no living worker has a handler');
    await database.pool.query("insert into queue.workers values ('w', now(), now() + interval '1 hour', '{report}', null, 'host', 1)");
    expect((await runDoctor(database.url)).code).toBe(0);
  });
});

describe("queue doctor on clocks", () => {
  const database = useTestDatabase();

  it.each([
    ["ahead of", "+ 90_000"],
    ["behind", "- 90_000"],
  ])("finds that this machine's is %s the server's", async (where, shift) => {
    const skew = `data:text/javascript,const now = Date.now; Date.now = () => now() ${shift};`.replaceAll("+", "%2B");
    const { code, text } = await runDoctor(database.url, [], ["--import", skew]);
    expect(code).toBe(3);
    expect(text).toMatch(new RegExp(`The clock of this machine is 1m (29|30)s ${where} the server's`));
  });

  it("finds that the server's went back", async () => {
    await database.pool.query("insert into queue.jobs (kind, created_at, status) values ('tick', now() + interval '1 hour', 'dead')");
    expect((await runDoctor(database.url)).text).toContain("in the future: the server's clock went back.");
    await database.pool.query("truncate queue.jobs");
  });
});

describe("queue doctor on a database that is read-only by default", () => {
  const database = useTestDatabase();

  it("compares the tables all the same", async () => {
    const name = new URL(database.url).pathname.slice(1);
    await database.pool.query(`alter database "${name}" set default_transaction_read_only = on`);
    const { code, of } = await runDoctor(database.url);
    expect(of("tables as migrated")?.status).toBe("fine");
    expect(code).toBe(0);
  });
});

// Where PgBouncer is not installed, .ci/run says so and installs it.
describe.runIf(findPooler() !== undefined)("queue doctor through a pooler in transaction mode", () => {
  const database = useTestDatabase();

  it("finds that LISTEN hears nothing, and finds everything else fine", async () => {
    await using pooler = await startPooler({ server: { url: database.url } });
    const { code, found, text } = await runDoctor(throughPooler(database.url, pooler), ["--listen", "1s"]);
    expect(found).toEqual(["notifications"]);
    expect(text).toContain("LISTEN is taken, but no notification arrives");
    expect(code).toBe(3);
    expect((await runCli(["status"], { url: throughPooler(database.url, pooler) })).code).toBe(0);
  });
});
