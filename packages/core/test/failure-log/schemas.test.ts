import { createQueue, job } from "@queue/core";
import { migrate } from "@queue/core/migrations";
import { useTestDatabase } from "@queue/test-database";
import type { Kysely } from "kysely";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { catalogueOf } from "../support/catalogue.js";
import { kyselyOn } from "../support/kysely-on.js";
import { executorOn, openSession } from "../support/session.js";
import { rejectionOf } from "../support/thrown-by.js";
import { wholeLife } from "../support/whole-life.js";
import { workerOn } from "../support/worker-on.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job<number>({ keep: "1d" }) } });
let db: Kysely<object>;

beforeAll(() => {
  db = kyselyOn<object>(database.pool);
});
beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.jobs_archive, queue.job_keys, queue.effects");
});

describe("schemas called in ways that B103 does not name", () => {
  test.each([
    "select",
    "pg",
    "PG_upper",
    "-- x",
    "/* x",
    "%s %I $1",
    "$body$",
    "E'\\x",
    "\u00E9\u0301",
    "tab\there",
    " lead",
    "trail ",
    "a.b.c",
    "\u{1F981}",
    "public",
  ])("%j works like any other", async (schema) => {
    await migrate(db, { schema });
    expect(await migrate(db, { schema })).toMatchObject({ applied: [] });
    await wholeLife(executorOn(database.pool), schema);
  });

  test.each(["pg_x", "a\u0000b", "\uD800", "\u00E9".repeat(32), 5, null, {}, ["queue"]])(
    "%# is refused before any SQL, by all who take one",
    async (schema) => {
      expect(await rejectionOf(migrate(db, { schema: schema as string })).catch(() => "accepted")).toMatchObject(
        schema === null ? {} : { code: "INVALID_OPTION", option: "schema" },
      );
    },
  );

  test("a schema that has a table of the application by the name of ours is left as it was", async () => {
    await database.pool.query("create schema mixed; create table mixed.jobs (title text); insert into mixed.jobs values ('cook')");
    const before = await catalogueOf(database.pool, "mixed");
    expect(await rejectionOf(migrate(db, { schema: "mixed" }))).toMatchObject({ code: "42P07" });
    expect(await catalogueOf(database.pool, "mixed")).toEqual(before);
    expect((await database.pool.query("select * from mixed.jobs")).rows).toEqual([{ title: "cook" }]);
  });

  test("a table called migrations of another tool is not taken for ours, and is left as it was", async () => {
    await database.pool.query(
      "create schema theirs; create table theirs.migrations (id serial primary key, timestamp bigint not null, name varchar not null)",
    );
    await database.pool.query("insert into theirs.migrations (timestamp, name) values (1, 'CreateUsers')");
    const before = await catalogueOf(database.pool, "theirs");
    expect(await rejectionOf(migrate(db, { schema: "theirs" }))).toMatchObject({ code: "42703" });
    expect(await catalogueOf(database.pool, "theirs")).toEqual(before);
    expect(await rejectionOf(createQueue({ schema: "theirs", jobs: { a: job<number>() } }).enqueue(db, "a", 1))).toBeInstanceOf(Error);
  });
});

describe("a migration under hostile defaults of its role", () => {
  test.each([
    { default_transaction_read_only: "on" },
    { default_transaction_isolation: "serializable" },
    { statement_timeout: "20ms" },
    { lock_timeout: "1ms" },
    { search_path: "" },
    { search_path: "nowhere, pg_temp" },
    { check_function_bodies: "off" },
    { default_table_access_method: "heap", default_toast_compression: "pglz", row_security: "off" },
    { standard_conforming_strings: "off", backslash_quote: "off" },
    { quote_all_identifiers: "on", array_nulls: "off", transform_null_equals: "on" },
    { client_encoding: "LATIN1" },
    { timezone: "Pacific/Apia", datestyle: "SQL, DMY", intervalstyle: "sql_standard", lc_numeric: "C" },
    { enable_seqscan: "off", enable_indexscan: "off", jit_above_cost: "0" },
  ])("%j makes the same tables as without", async (settings) => {
    const schema = `under_${Object.keys(settings)[0] ?? ""}_${Object.values(settings)[0]?.length ?? 0}`;
    const options = Object.entries(settings)
      .map(([name, value]) => `-c ${name}=${value.replaceAll(" ", "\\ ")}`)
      .join(" ");
    const pool = database.newPool({ options });
    await migrate(kyselyOn(pool), { schema });
    const made = await catalogueOf(database.pool, schema);
    await migrate(db, { schema: "plain" });
    const plain = await catalogueOf(database.pool, "plain");
    const unnamed = (lines: readonly string[], name: string) =>
      lines.map((line) => line.replaceAll(name, "S").replaceAll(/queue_[0-9a-f]{32}/g, "CHANNEL")).sort();
    expect(unnamed(made, schema)).toEqual(unnamed(plain, "plain"));
    if (!("statement_timeout" in settings) && !("default_transaction_read_only" in settings)) await wholeLife(executorOn(pool), schema);
  });
});

describe("tables that were restored", () => {
  test("with a sequence that is behind: the enqueue is refused as a whole, never written over, and works when the sequence is set", async () => {
    const { id } = await queue.enqueue(db, "a", 1);
    for (const options of [{}, { key: "k" }]) {
      await database.pool.query("select setval('queue.jobs_id_seq', $1::bigint, false)", [id]);
      expect(await rejectionOf(db.transaction().execute((trx) => queue.enqueue(trx, "a", 2, options)))).toMatchObject({ code: "23505" });
    }
    await database.pool.query("select setval('queue.jobs_id_seq', (select max(id) from queue.all_jobs))");
    expect(await queue.enqueue(db, "a", 3, { key: "k" })).toMatchObject({ inserted: true });
    expect((await queue.admin(db).jobs()).items.map(({ payload }) => payload)).toEqual([3, 1]);
  });

  test("with jobs that ran when they were saved: their leases are over, and they run again", async () => {
    await queue.enqueue(db, "a", 1);
    await workerOn(db, { worker: "before the backup" }).claim();
    await database.pool.query("create table backup as select * from queue.jobs; truncate queue.jobs");
    await database.pool.query("insert into queue.jobs select * from backup; update queue.jobs set locked_until = now() - interval '1 day'");
    const worker = workerOn(db, { worker: "after it" });
    expect(await worker.sweep()).toMatchObject([{ status: "queued" }]);
    expect(await worker.claim()).toMatchObject([{ attempts: 2, claims: 2 }]);
    await database.pool.query("drop table backup");
  });
});

describe("a schema that is renamed", () => {
  test("serves a queue of the new name, whose jobs are enqueued, claimed and ended", async () => {
    await migrate(db, { schema: "old_name" });
    const before = createQueue({ schema: "old_name", jobs: { a: job<number>() } });
    const { id } = await before.enqueue(db, "a", 1);
    await database.pool.query("alter schema old_name rename to new_name");
    expect(await rejectionOf(before.enqueue(db, "a", 2))).toMatchObject({ code: "SCHEMA_MISSING" });
    const after = createQueue({ schema: "new_name", jobs: { a: job<number>() } });
    expect(await after.admin(db).job(id)).toMatchObject({ id, status: "queued" });
    await after.enqueue(db, "a", 3);
    const worker = workerOn(db, { schema: "new_name" });
    expect(await worker.complete(await worker.claim())).toHaveLength(2);
  });

  test("says that its archive cannot be maintained, and loses nothing: the default partition takes the rows", async () => {
    await migrate(db, { schema: "moves" });
    await database.pool.query("alter schema moves rename to moved");
    await database.pool.query(`do $$ declare partition text; begin
      for partition in select c.oid::regclass::text from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'moved.jobs_archive'::regclass and c.relname ~ '[0-9]$'
      loop execute 'drop table ' || partition; end loop; end $$`);
    const worker = workerOn(db, { schema: "moved" });
    expect(await rejectionOf(worker.maintainArchive())).toMatchObject({ code: "42P01" });
    const moved = createQueue({ schema: "moved", jobs: { a: job<number>() } });
    const { id } = await moved.enqueue(db, "a", 1);
    await worker.complete(await worker.claim());
    expect(await moved.admin(db).job(id)).toMatchObject({ status: "done" });
  });
});

describe("two schemas side by side", () => {
  test("whose names differ in case only, migrated at the same moment, hold two queues", async () => {
    await Promise.all([migrate(db, { schema: "Twin" }), migrate(db, { schema: "twin" }), migrate(db, { schema: "TWIN" })]);
    const queues = ["Twin", "twin", "TWIN"].map((schema) => createQueue({ schema, jobs: { a: job<number>() } }));
    for (const [n, one] of queues.entries()) for (let times = 0; times <= n; times++) await one.enqueue(db, "a", n, { key: `${times}` });
    const sizes = await Promise.all(queues.map(async (one) => (await one.admin(db).jobs()).items.length));
    expect(sizes).toEqual([1, 2, 3]);
  });

  test("in one transaction, enqueued into both: both or none", async () => {
    await migrate(db, { schema: "second" });
    const second = createQueue({ schema: "second", jobs: { a: job<number>() } });
    await using session = await openSession(database.url);
    for (const end of ["rollback", "commit"]) {
      await session.query("begin");
      await queue.enqueue(session.executor, "a", 1, { key: end });
      await second.enqueue(session.executor, "a", 1, { key: end });
      await session.query(end);
    }
    expect((await queue.admin(db).jobs()).items.map(({ key }) => key)).toEqual(["commit"]);
    expect((await second.admin(db).jobs()).items.map(({ key }) => key)).toEqual(["commit"]);
  });
});
