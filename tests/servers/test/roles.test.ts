import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { Kysely, PostgresDialect, sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createQueue, job } from "@queue/core";
import { migrate } from "@queue/core/migrations";
import { useTestDatabase } from "@queue/test-database";
import { createWorker, type WorkerEvent } from "@queue/worker";
import { doEverything, everything } from "./support/everything.js";
import { recordLogger } from "./support/recorded-logger.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job({ lane: "ours" }), b: job({ lane: "theirs" }) } });
const patient = { timeout: 15_000 };
const password = randomBytes(12).toString("hex");
// Roles belong to the whole server.
const suffix = randomBytes(6).toString("hex");
const [owner, app, login] = [`owner_${suffix}`, `app_${suffix}`, `login_${suffix}`];

beforeAll(async () => {
  const list = await readFile(new URL("../../../packages/core/test/grants.sql", import.meta.url), "utf8");
  await database.pool.query(`
    create role ${owner} login password '${password}';
    create role ${app};
    create role ${login} login password '${password}' in role ${app};
    ${list.replaceAll(" to app;", ` to ${app};`)}
    create table queue.ledger (entry text);
    grant select, insert on queue.ledger to ${app};
  `);
});

beforeEach(async () => {
  await database.pool.query(`
    truncate queue.jobs, queue.jobs_archive, queue.job_keys, queue.effects, queue.workers, queue.lanes, queue.ledger;
    alter role ${login} reset all;
  `);
});

afterAll(async () => {
  await database.pool.query(
    [owner, app, login].map((role) => `drop owned by ${role} cascade; drop schema if exists ${role} cascade; drop role ${role}`).join(";"),
  );
});

function as(role: string): Kysely<unknown> {
  const url = new URL(database.url);
  url.username = role;
  url.password = password;
  return new Kysely<unknown>({ dialect: new PostgresDialect({ pool: database.newPool({ connectionString: url.href }) }) });
}

function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => "fulfilled",
    (error: unknown) => error,
  );
}

describe("a role", () => {
  test("that may create nothing is told so by the database when it migrates, and nothing is there afterwards", async () => {
    const error = await rejectionOf(migrate(as(login), { schema: "another" }));
    expect(error).toMatchObject({ code: "42501", message: expect.stringContaining("permission denied for database") });
    const { rows } = await database.pool.query("select from pg_namespace where nspname = 'another'");
    expect(rows).toEqual([]);
  });

  test("that owns a schema and may create no other migrates into it, and lives there", async () => {
    await database.pool.query(`create schema ${owner} authorization ${owner}`);
    const db = as(owner);
    await migrate(db, { schema: owner });
    await sql`create table ${sql.table(`${owner}.ledger`)} (entry text)`.execute(db);
    expect(await doEverything({ schema: owner, db })).toEqual(everything);
  });

  test("that becomes another one when it logs in has the rights of that one", async () => {
    await database.pool.query(`alter role ${login} set role = '${app}'`);
    const db = as(login);
    const { rows } = await sql<{ role: string }>`select current_user as role`.execute(db);
    expect(rows).toEqual([{ role: app }]);
    expect(await doEverything({ schema: "queue", db })).toEqual(everything);
  });

  test("that may not see the tables does not start a worker, which says what is refused", async () => {
    const logger = recordLogger();
    const worker = createWorker({ queue, db: as(owner), logger, handlers: { a: () => {} } });
    const error = await rejectionOf(worker.start());
    expect(error).toMatchObject({ message: expect.stringContaining("permission denied") });
    await worker.stop();
  });
});

describe("row level security", () => {
  const tables = ["jobs", "jobs_archive", "job_keys", "lanes", "workers", "effects", "migrations"];
  const all = (template: (table: string) => string) => database.pool.query(tables.map((table) => template(`queue.${table}`)).join(";"));

  beforeEach(async () => {
    await all((table) => `alter table ${table} enable row level security; drop policy if exists everything on ${table}`);
    await database.pool.query("drop policy if exists ours on queue.jobs");
    return async () => void (await all((table) => `alter table ${table} disable row level security`));
  });

  test("with policies that let the role see everything changes nothing", async () => {
    await all((table) => `create policy everything on ${table} to ${app} using (true)`);
    expect(await doEverything({ schema: "queue", db: as(login) })).toEqual(everything);
  });

  test("without a policy lets nobody but the owner work, and everybody is told so", async () => {
    const db = as(login);
    expect(await rejectionOf(queue.enqueue(db, "a", null))).toMatchObject({ code: "SCHEMA_TOO_OLD" });
    const worker = createWorker({ queue, db, logger: recordLogger(), handlers: { a: () => {} } });
    expect(await rejectionOf(worker.start())).toMatchObject({ code: "SCHEMA_TOO_OLD" });
    await worker.stop();
  });

  test("on the jobs alone lets a worker see its own, and refuses the others to who enqueues them", async () => {
    await all((table) => (table === "queue.jobs" ? "" : `create policy everything on ${table} to ${app} using (true)`));
    await database.pool.query(`create policy ours on queue.jobs to ${app} using (lane = 'ours')`);
    const db = as(login);
    const events: WorkerEvent[] = [];
    const worker = createWorker({
      queue,
      db,
      logger: recordLogger(),
      pollInterval: 25,
      onEvent: (event) => void events.push(event),
      handlers: { a: () => {}, b: () => {} },
    });
    await worker.start();
    try {
      const [theirs] = await queue.enqueueMany(ofOwner(), [{ kind: "b", payload: null }]);
      expect(await rejectionOf(queue.enqueue(db, "b", null))).toMatchObject({
        code: "42501",
        message: expect.stringContaining("row-level security"),
      });
      const { id } = await queue.enqueue(db, "a", null);
      await expect.poll(async () => (await queue.admin(ofOwner()).job(id))?.status, patient).toBe("done");
      expect((await queue.admin(ofOwner()).job(theirs?.id ?? ""))?.status).toBe("queued");
    } finally {
      await worker.stop();
    }
    expect(events.filter(({ type }) => type === "worker.error")).toEqual([]);
  });

  test("is an error, and no silence, for a role that has set row_security off", async () => {
    await all((table) => `create policy everything on ${table} to ${app} using (true)`);
    await database.pool.query(`alter role ${login} set row_security = off`);
    const db = as(login);
    const refused = { code: "42501", message: expect.stringContaining("row-level security") };
    expect(await rejectionOf(queue.enqueue(db, "a", null))).toMatchObject(refused);
    const worker = createWorker({ queue, db, logger: recordLogger(), handlers: { a: () => {} } });
    expect(await rejectionOf(worker.start())).toMatchObject({ message: expect.stringContaining("row-level security") });
    await worker.stop();
  });
});

function ofOwner(): Kysely<unknown> {
  return new Kysely<unknown>({ dialect: new PostgresDialect({ pool: database.pool }) });
}
