import { Kysely, PostgresDialect, sql } from "kysely";
import { beforeEach, describe, expect, inject, test } from "vitest";
import { createQueue, job } from "@queue/core";
import { migrate } from "@queue/core/migrations";
import { pgListener } from "@queue/pg";
import { useTestDatabase } from "@queue/test-database";
import { createWorker } from "@queue/worker";
import { doEverything, everything } from "./support/everything.js";
import { recordLogger } from "./support/recorded-logger.js";

const database = useTestDatabase({ template: "empty" });
const schema = "queue";

/** A Kysely whose sessions begin with the settings, as those of a role or a database do that a DBA has altered. */
function under(settings: Readonly<Record<string, string>> = {}): Kysely<unknown> {
  return new Kysely<unknown>({ dialect: new PostgresDialect({ pool: database.newPool({ options: asOptions(settings) }) }) });
}

function asOptions(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(/[\\ ]/g, String.raw`\$&`)}`)
    .join(" ");
}

beforeEach(async () => {
  await database.pool.query(`drop schema if exists ${schema} cascade`);
});

/** Makes the tables and does everything, all in sessions that begin with the settings. */
async function liveUnder(settings: Readonly<Record<string, string>>, { listens = false } = {}) {
  const db = under(settings);
  const { rows } = await sql<{ name: string }>`select name from pg_settings where source = 'client'`.execute(db);
  expect(rows.map(({ name }) => name.toLowerCase())).toEqual(expect.arrayContaining(Object.keys(settings)));
  await migrate(db, { schema });
  await sql`create table ${sql.table(`${schema}.ledger`)} (entry text)`.execute(db);
  const listener = listens ? pgListener({ connectionString: database.url, options: asOptions(settings) }) : undefined;
  return doEverything({ schema, db, listener });
}

describe("everything goes on as without it, from the first migration, in sessions that begin with", () => {
  test.each<[name: string, settings: Readonly<Record<string, string>>]>([
    [
      "short time-outs",
      { statement_timeout: "2s", lock_timeout: "1s", idle_in_transaction_session_timeout: "2s", idle_session_timeout: "1s" },
    ],
    ["REPEATABLE READ", { default_transaction_isolation: "repeatable read" }],
    ["SERIALIZABLE, deferrable", { default_transaction_isolation: "serializable", default_transaction_deferrable: "on" }],
    ["READ UNCOMMITTED", { default_transaction_isolation: "read uncommitted" }],
    [
      "a format of its own for everything",
      {
        timezone: "America/St_Johns",
        datestyle: "SQL, DMY",
        intervalstyle: "sql_standard",
        bytea_output: "escape",
        xmlbinary: "hex",
        extra_float_digits: "-15",
        lc_numeric: "C",
      },
    ],
    ["an empty search_path", { search_path: "" }],
    ["strings whose backslashes escape", { standard_conforming_strings: "off", escape_string_warning: "off", backslash_quote: "off" }],
    ["no NULLs in arrays", { array_nulls: "off" }],
    ["another meaning of = NULL", { transform_null_equals: "on" }],
    ["quoted identifiers", { quote_all_identifiers: "on" }],
    ["generic plans only", { plan_cache_mode: "force_generic_plan" }],
    ["custom plans only, made in no time", { plan_cache_mode: "force_custom_plan", geqo_threshold: "2", join_collapse_limit: "1" }],
    ["JIT for every statement", { jit: "on", jit_above_cost: "0" }],
    ["no sequential scans, and little memory", { enable_seqscan: "off", work_mem: "64kB" }],
    ["no index scans", { enable_indexscan: "off", enable_indexonlyscan: "off", enable_bitmapscan: "off", enable_partition_pruning: "off" }],
    ["commits that do not wait", { synchronous_commit: "off" }],
    ["row_security off", { row_security: "off" }],
    ["another client encoding", { client_encoding: "LATIN1" }],
    ["triggers that do not fire", { session_replication_role: "replica" }],
    ["functions whose bodies are not checked", { check_function_bodies: "off" }],
  ])("%s", async (_name, settings) => {
    expect(await liveUnder(settings)).toEqual(everything);
  });

  test("an end for every transaction that lasts", async ({ skip }) => {
    if (inject("testServer").version < 170_000) skip("PostgreSQL has transaction_timeout since 17");
    expect(await liveUnder({ transaction_timeout: "2s" })).toEqual(everything);
  });

  test("triggers that do not fire, with a listener: the poll finds what nobody rang for", async () => {
    expect(await liveUnder({ session_replication_role: "replica" }, { listens: true })).toEqual(everything);
  });

  test("limits for idle sessions, with a listener", async () => {
    expect(await liveUnder({ idle_session_timeout: "300ms" }, { listens: true })).toEqual(everything);
  });
});

describe("a database that is read-only by default", () => {
  const readOnly = { default_transaction_read_only: "on" };

  test("is worked on all the same, by a worker whose jobs come from elsewhere", async () => {
    const producer = under();
    await migrate(producer, { schema });
    await sql`create table ${sql.table(`${schema}.ledger`)} (entry text)`.execute(producer);
    expect(await doEverything({ schema, db: under(readOnly), producer })).toEqual(everything);
  });

  test("is migrated, and refuses an enqueue outside of a transaction of its own with its own error", async () => {
    const queue = createQueue({ jobs: { a: job() } });
    const db = under(readOnly);
    await migrate(db, queue);
    await expect(queue.enqueue(db, "a", null)).rejects.toMatchObject({ code: "25006" });
    expect((await database.pool.query("select from queue.jobs")).rows).toEqual([]);
  });
});

test("a schema whose name has quotes and backslashes is the same to sessions in which backslashes escape", async () => {
  const odd = String.raw`we\ird ' " \' \\`;
  const db = under({ standard_conforming_strings: "off", escape_string_warning: "off" });
  const queue = createQueue({ schema: odd, jobs: { a: job() } });
  await migrate(db, queue);
  const done: string[] = [];
  const worker = createWorker({
    queue,
    db,
    logger: recordLogger(),
    pollInterval: "60s",
    listener: pgListener({ connectionString: database.url }),
    handlers: { a: ({ id }) => void done.push(id) },
  });
  await worker.start();
  try {
    const ids = [await queue.enqueue(under(), "a", null), await queue.enqueue(db, "a", null)].map(({ id }) => id);
    await expect.poll(() => done, { timeout: 15_000 }).toEqual(ids);
  } finally {
    await worker.stop();
  }
});
