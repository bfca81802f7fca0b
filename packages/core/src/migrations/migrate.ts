import { queueError } from "../errors/queue-error.js";
import { areFunctionsPending, functionsStep } from "../functions/install-functions.js";
import { checkSchemaName } from "../job/schema-name.js";
import type { Executor } from "../ports/executor.js";
import { type DatabaseTarget, isAdapterDatabase, toDatabase } from "../ports/adapter-database.js";
import { type EnqueueTarget, toExecutor } from "../ports/kysely-like.js";
import { schemaMigrations } from "./all-migrations.js";
import { quoteIdentifier, quoteLiteral } from "./quote.js";
import type { SchemaMigration } from "./schema-migration.js";

/** What `migrate` did. */
export interface MigrateResult {
  readonly schema: string;
  /** The names of the steps that this call applied; empty when the schema was up to date. */
  readonly applied: readonly string[];
}

/** The schema to work on: a queue as it stands, or its name. @default "queue" */
export interface SchemaOption {
  readonly schema?: string | undefined;
}

/** The oldest PostgreSQL that has what the statements use. */
const oldestServer = 140_000;

/**
 * Creates or upgrades the tables of a queue. One transaction does all of it, under an advisory lock: any number of processes
 * may call it at the same moment, and one that dies in the middle leaves the old state. Given a `Transaction` (inside a
 * migration of the application's own Kysely `Migrator`), or what an adapter makes of another library's, it joins it.
 *
 * It needs the right to create a schema, or the ownership of an existing one. Nothing else in this library does.
 *
 * @throws QueueError `SERVER_TOO_OLD` before anything is created, `INVALID_OPTION` for a name that PostgreSQL refuses, and for what is
 *   no database, nor an open transaction
 * @example await migrate(db, queue);
 */
export async function migrate(db: EnqueueTarget | DatabaseTarget, options: SchemaOption = {}): Promise<MigrateResult> {
  const schema = checkSchemaName(options.schema ?? "queue");
  const executor = toExecutor(db);
  if (!isTransaction(db)) return toDatabase(db).transaction((_trx, inside) => applyPending(inside, schema));
  if (!("isTransaction" in db)) await refuseAutocommit(executor);
  return applyPending(executor, schema);
}

/** A transaction of Kysely, or what an adapter makes of another library's. */
function isTransaction(db: EnqueueTarget | DatabaseTarget): db is EnqueueTarget {
  return "isTransaction" in db ? db.isTransaction : !isAdapterDatabase(db);
}

/** What an adapter makes of a connection may have no transaction open: half of a schema could be left. */
async function refuseAutocommit(executor: Executor): Promise<void> {
  const current = async () => (await run<{ id: string }>(executor, "select pg_catalog.txid_current()::text as id"))[0]?.id;
  if ((await current()) === (await current())) return;
  throw queueError(
    "INVALID_OPTION",
    "migrate was given a connection without an open transaction. Begin one, or give the whole database (pgDatabase(pool) …).",
    {
      option: "db",
    },
  );
}

/** The whole schema as a script, for those who let no program create tables: `psql -f`. Needs an empty database schema. */
export function migrationSql(options: SchemaOption = {}): string {
  const schema = checkSchemaName(options.schema ?? "queue");
  const statements = [
    `create schema if not exists ${quoteIdentifier(schema)}`,
    createBookkeeping(schema),
    ...[...schemaMigrations, functionsStep()].flatMap((migration) => [...migration.statements(schema), recordMigration(schema, migration)]),
  ];
  return `begin;\n\n${statements.map((statement) => `${statement};\n`).join("\n")}\ncommit;\n`;
}

async function applyPending(executor: Executor, schema: string): Promise<MigrateResult> {
  await refuseOldServer(executor);
  const before = await readTimeouts(executor);
  await waitForOtherMigrators(executor, schema);
  if (!(await schemaExists(executor, schema))) await run(executor, `create schema ${quoteIdentifier(schema)}`);
  if (!(await bookkeepingExists(executor, schema))) await run(executor, createBookkeeping(schema));
  const known = await run<{ name: string }>(executor, `select name from ${quoteIdentifier(schema)}.migrations`);
  const done = new Set(known.map((row) => row.name));
  const functions = functionsStep();
  const pending = [
    ...schemaMigrations.filter((migration) => !done.has(migration.name)),
    ...(areFunctionsPending(functions, done) ? [functions] : []),
  ];
  for (const migration of pending) {
    for (const statement of migration.statements(schema)) await run(executor, statement);
    await run(executor, recordMigration(schema, migration));
  }
  // The transaction may be the caller's, and goes on.
  await setTimeouts(executor, before);
  return { schema, applied: pending.map((migration) => migration.name) };
}

async function run<R>(executor: Executor, sql: string, parameters: readonly unknown[] = []): Promise<R[]> {
  return (await executor.execute<R>({ sql, parameters })).rows;
}

async function refuseOldServer(executor: Executor): Promise<void> {
  const [row] = await run<{ number: string; version: string }>(
    executor,
    "select pg_catalog.current_setting('server_version_num') as number, pg_catalog.current_setting('server_version') as version",
  );
  if (Number(row?.number) < oldestServer) {
    throw queueError("SERVER_TOO_OLD", `The queue needs PostgreSQL 14 or newer; this server is ${row?.version}. Nothing was created.`, {
      found: row?.version ?? "unknown",
    });
  }
}

interface Timeouts {
  readonly lock: string;
  readonly statement: string;
}

async function readTimeouts(executor: Executor): Promise<Timeouts> {
  const [timeouts] = await run<Timeouts>(
    executor,
    `select pg_catalog.current_setting('lock_timeout') as lock, pg_catalog.current_setting('statement_timeout') as statement`,
  );
  return { lock: timeouts?.lock ?? "0", statement: timeouts?.statement ?? "0" };
}

/** Until the end of the transaction. */
async function setTimeouts(executor: Executor, { lock, statement }: Timeouts): Promise<void> {
  await run(
    executor,
    `select pg_catalog.set_config('lock_timeout', $1::text, true) as lock, pg_catalog.set_config('statement_timeout', $2::text, true) as statement`,
    [lock, statement],
  );
}

/** `create schema if not exists` is no protection: of four sessions at once three fail on the catalogue's unique index. */
async function waitForOtherMigrators(executor: Executor, schema: string): Promise<void> {
  await setTimeouts(executor, { lock: "60s", statement: "0" });
  await run(executor, "select 1 as ok from pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended($1::text, 0))", [
    `queue migrate ${schema}`,
  ]);
}

async function schemaExists(executor: Executor, schema: string): Promise<boolean> {
  return (await run(executor, "select 1 as ok from pg_catalog.pg_namespace where nspname = $1::text", [schema])).length > 0;
}

async function bookkeepingExists(executor: Executor, schema: string): Promise<boolean> {
  const [row] = await run<{ found: string | null }>(executor, "select pg_catalog.to_regclass($1::text)::text as found", [
    `${quoteIdentifier(schema)}.migrations`,
  ]);
  return row?.found != null;
}

function createBookkeeping(schema: string): string {
  return `create table ${quoteIdentifier(schema)}.migrations (
         name text collate "C" primary key,
         breaks_older_workers boolean not null,
         applied_at timestamptz not null default pg_catalog.clock_timestamp()
       )`;
}

function recordMigration(schema: string, { name, breaksOlderWorkers }: SchemaMigration): string {
  return `insert into ${quoteIdentifier(schema)}.migrations (name, breaks_older_workers) values (${quoteLiteral(name)}, ${breaksOlderWorkers})`;
}
