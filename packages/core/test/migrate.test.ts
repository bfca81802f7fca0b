import { createQueue, job } from "@queue/core";
import { migrate } from "@queue/core/migrations";
import { useTestDatabase } from "@queue/test-database";
import { CamelCasePlugin, type Kysely, sql } from "kysely";
import { afterEach, describe, expect, test } from "vitest";
import { allSteps } from "./support/all-steps.js";
import { catalogueOf, schemasOf } from "./support/catalogue.js";
import { kyselyOn } from "./support/kysely-on.js";
import { openSession } from "./support/session.js";
import { rejectionOf } from "./support/thrown-by.js";

const database = useTestDatabase({ template: "empty" });
const applied = allSteps;

afterEach(async () => {
  await database.pool.query("drop schema if exists queue cascade; drop schema if exists q1 cascade; drop schema if exists q2 cascade");
});

const appliedIn = async (schema: string) =>
  (await database.pool.query<{ name: string }>(`select name from ${schema}.migrations order by name`)).rows.map(({ name }) => name);

describe("migrate", () => {
  test("creates everything in one schema, says what it did, and does nothing the second time", async () => {
    const db = kyselyOn(database.pool);
    expect(await migrate(db)).toEqual({ schema: "queue", applied });
    const catalogue = await catalogueOf(database.pool, "queue");
    expect(await migrate(db)).toEqual({ schema: "queue", applied: [] });
    expect(await catalogueOf(database.pool, "queue")).toEqual(catalogue);
    expect(await appliedIn("queue")).toEqual(applied);
    expect(await schemasOf(database.pool)).toEqual(["public", "queue"]);
  });

  test("takes the queue itself, for its schema", async () => {
    const queue = createQueue({ schema: "q1", jobs: { a: job() } });
    expect(await migrate(kyselyOn(database.pool), queue)).toEqual({ schema: "q1", applied });
    expect(await queue.enqueue(kyselyOn(database.pool), "a", null)).toMatchObject({ inserted: true });
  });

  test("uses a schema that is there, whoever else has tables in it", async () => {
    await database.pool.query("create schema q1; create table q1.orders (id int)");
    expect(await migrate(kyselyOn(database.pool), { schema: "q1" })).toEqual({ schema: "q1", applied });
    await database.pool.query("select from q1.orders");
  });

  test("gives the empty jobs table pages for the planner, and no rows", async () => {
    await migrate(kyselyOn(database.pool));
    const { rows } = await database.pool.query(
      "select pg_relation_size('queue.jobs') / 8192 >= 32 as spread, (select count(*)::int from queue.jobs) as count, (select last_value from queue.jobs_id_seq) as id",
    );
    expect(rows).toEqual([{ spread: true, count: 0, id: "1" }]);
  });

  test("lets no function that avoids scans of whole tables be compiled: the estimate of one that it cannot avoid would start that", async () => {
    await migrate(kyselyOn(database.pool));
    const { rows } = await database.pool.query<{ name: string; settings: string[] }>(
      `select proname as name, proconfig as settings from pg_proc
        where pronamespace = 'queue'::regnamespace and 'enable_seqscan=off' = any(proconfig)`,
    );
    expect(rows.map(({ name }) => name)).toContain("maintain_archive");
    expect(rows.filter(({ settings }) => !settings.includes("jit=off"))).toEqual([]);
  });

  test("keeps the planner from learning what the claim filters on, and pages from going back and forth", async () => {
    await migrate(kyselyOn(database.pool));
    const { rows } = await database.pool.query(
      `select (select array_agg(attname::text order by attname) from pg_attribute where attrelid = c.oid and attstattarget = 0 and attnum > 0) as unlearnt,
              reloptions as options
         from pg_class c where oid = 'queue.jobs'::regclass`,
    );
    expect(rows).toEqual([
      {
        unlearnt: ["kind", "lane", "locked_until", "priority", "run_at", "status"],
        options: ["fillfactor=50", "vacuum_truncate=off"],
      },
    ]);
  });

  test.each([undefined, null, {}, "postgres://localhost", Promise.resolve()])("refuses %j, which is no database", async (wrong) => {
    expect(await rejectionOf(migrate(wrong as never))).toMatchObject({ code: "INVALID_OPTION", option: "db" });
  });

  test("refuses a connection without an open transaction, which could leave half of a schema, and creates nothing", async () => {
    await using session = await openSession(database.url);
    expect(await rejectionOf(migrate(session.executor, { schema: "half" }))).toMatchObject({ code: "INVALID_OPTION", option: "db" });
    expect(await session.query("select from pg_namespace where nspname = 'half'")).toEqual([]);
    await session.query("begin");
    await migrate(session.executor, { schema: "half" });
    await session.query("rollback");
    expect(await session.query("select from pg_namespace where nspname = 'half'")).toEqual([]);
  });

  test("refuses a server that is too old, before it creates anything", async () => {
    const sent: string[] = [];
    const executeQuery = ({ sql: text }: { readonly sql: string }) => {
      sent.push(text);
      return Promise.resolve({ rows: [{ number: "130014", version: "13.14" }] });
    };
    const old = {
      isTransaction: true,
      insertInto: () => ({ execute: () => Promise.resolve([]) }),
      executeQuery,
      withoutPlugins: () => ({ executeQuery }),
    };
    const error = await rejectionOf(migrate(old));
    expect(error).toMatchObject({ code: "SERVER_TOO_OLD", found: "13.14" });
    expect(error.message).toBe("The queue needs PostgreSQL 14 or newer; this server is 13.14. Nothing was created.");
    expect(sent).toHaveLength(1);
  });

  test.each<[name: string, schema: unknown]>([
    ["empty", ""],
    ["64 bytes long", "s".repeat(64)],
    ["one with NUL", "a\u0000"],
    ["PostgreSQL's own", "pg_queue"],
  ])("refuses a schema's name that is %s before any SQL", async (_name, schema) => {
    const error = await rejectionOf(migrate(undefined as never, { schema: schema as string }));
    expect(error).toMatchObject({ code: "INVALID_OPTION", option: "schema" });
  });

  test("B114: plugins of the application's Kysely change no name", async () => {
    await migrate(kyselyOn(database.pool, [new CamelCasePlugin({ upperCase: true })]));
    const catalogue = await catalogueOf(database.pool, "queue");
    await database.pool.query("drop schema queue cascade");
    await migrate(kyselyOn(database.pool).withSchema("elsewhere"));
    expect(await catalogueOf(database.pool, "queue")).toEqual(catalogue);
  });

  test("states READ COMMITTED where the database's default is another level", async () => {
    const pool = database.newPool({ options: "-c default_transaction_isolation=serializable" });
    expect(await migrate(kyselyOn(pool))).toEqual({ schema: "queue", applied });
  });

  test("leaves nothing behind when it fails in the middle", async () => {
    await database.pool.query("create schema queue; create table queue.effects (mine int)");
    const error = await rejectionOf(migrate(kyselyOn(database.pool)));
    expect(error).toMatchObject({ code: "42P07" });
    const { rows } = await database.pool.query("select relname from pg_class where relnamespace = 'queue'::regnamespace");
    expect(rows).toEqual([{ relname: "effects" }]);
  });
});

describe("in the caller's transaction", () => {
  test("joins it: a rollback leaves nothing, a commit everything", async () => {
    const db = kyselyOn<object>(database.pool);
    await rejectionOf(
      db.transaction().execute(async (trx) => {
        expect(await migrate(trx)).toEqual({ schema: "queue", applied });
        throw new Error("no");
      }),
    );
    expect(await schemasOf(database.pool)).toEqual(["public"]);
    await db.transaction().execute((trx) => migrate(trx));
    expect(await appliedIn("queue")).toEqual(applied);
  });

  test("leaves the settings of the transaction as they were", async () => {
    const db = kyselyOn<object>(database.pool);
    const settings = sql<Record<string, string>>`select current_setting('lock_timeout') as lock_timeout,
      current_setting('statement_timeout') as statement_timeout, current_setting('search_path') as search_path`;
    await db.transaction().execute(async (trx) => {
      await sql`set local lock_timeout = '5s'; set local statement_timeout = '7s'`.execute(trx);
      const before = (await settings.execute(trx)).rows;
      await migrate(trx);
      expect((await settings.execute(trx)).rows).toEqual(before);
    });
  });

  test("B113: runs inside of a migration of Kysely's own Migrator, whose tables stay its own", async () => {
    const db = kyselyOn<object>(database.pool);
    const migrations = {
      "0001-shop": { up: (trx: Kysely<object>) => sql`create table orders (id int)`.execute(trx) },
      "0002-queue": { up: (trx: Kysely<object>) => migrate(trx) },
    };
    const Migrator = await loadMigrator();
    const run = () => new Migrator({ db, provider: { getMigrations: () => Promise.resolve(migrations) } }).migrateToLatest();
    expect((await run()).error).toBeUndefined();
    expect((await run()).error).toBeUndefined();
    const { rows } = await database.pool.query("select name from kysely_migration order by name");
    expect(rows).toEqual([{ name: "0001-shop" }, { name: "0002-queue" }]);
    expect(await appliedIn("queue")).toEqual(applied);
    await database.pool.query("drop table kysely_migration, kysely_migration_lock, orders");
  });
});

describe("several installations in one database (B113)", () => {
  test("migrate independently and at the same time, and create nothing outside", async () => {
    await database.pool.query("create table public.kysely_migration (name text); insert into kysely_migration values ('a'), ('b'), ('c')");
    const before = await catalogueOf(database.pool, "public");
    const results = await Promise.all(["q1", "q2", "q1", "q2"].map((schema) => migrate(kyselyOn(database.pool), { schema })));
    expect(
      results
        .filter((result) => result.applied.length > 0)
        .map(({ schema }) => schema)
        .sort(),
    ).toEqual(["q1", "q2"]);
    expect(await catalogueOf(database.pool, "public")).toEqual(before);
    const { rows } = await database.pool.query("select count(*)::int as count from kysely_migration");
    expect(rows).toEqual([{ count: 3 }]);
    await database.pool.query("drop table kysely_migration");
    const names = (lines: string[], schema: string) =>
      lines.map((line) => line.replaceAll(schema, "S").replaceAll(/queue_[0-9a-f]{32}/g, "CHANNEL"));
    expect(names(await catalogueOf(database.pool, "q1"), "q1")).toEqual(names(await catalogueOf(database.pool, "q2"), "q2"));
  });

  test("need no right on public", async () => {
    const role = "migrator_without_public";
    await database.pool.query(`create role ${role}`);
    try {
      const { rows } = await database.pool.query<{ name: string }>("select current_database() as name");
      await database.pool.query(`revoke create on schema public from public; grant create on database ${rows[0]?.name} to ${role}`);
      const pool = database.newPool({ options: `-c role=${role}` });
      expect(await migrate(kyselyOn(pool), { schema: "q1" })).toEqual({ schema: "q1", applied });
      await pool.end();
    } finally {
      await database.pool.query(`drop owned by ${role} cascade; drop role ${role}`);
    }
  });
});

interface MigratorLike {
  migrateToLatest(): Promise<{ readonly error?: unknown }>;
}

/** Kysely 0.28 has it at its root, 0.29 at a path of its own. */
async function loadMigrator(): Promise<new (options: object) => MigratorLike> {
  const root = (await import("kysely")) as unknown as { Migrator?: new (options: object) => MigratorLike };
  return root.Migrator ?? ((await import("kysely-029/migration")).Migrator as unknown as new (options: object) => MigratorLike);
}
