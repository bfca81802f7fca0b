import { createQueue, job } from "@queue/core";
import { migrate } from "@queue/core/migrations";
import { type EmbeddedServer, startEmbeddedServer, useTestDatabase } from "@queue/test-database";
import { type Kysely, sql } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { kyselyOn } from "../support/kysely-on.js";
import { openSession } from "../support/session.js";
import { listenTo } from "../support/listener.js";
import { rejectionOf } from "../support/thrown-by.js";
import { workerOn } from "../support/worker-on.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job<number>() } });
let db: Kysely<object>;

beforeAll(async () => {
  db = kyselyOn<object>(database.pool);
  await database.pool.query("create table parent (id int primary key)");
  await database.pool.query("create table child (id int references parent deferrable initially deferred)");
});
beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.job_keys");
});

async function payloads(): Promise<unknown[]> {
  const { rows } = await database.pool.query<{ payload: unknown }>("select payload from queue.jobs order by id");
  return rows.map(({ payload }) => payload);
}

describe("a transaction that cannot take a job", () => {
  test.each<[name: string, before: string, sqlState: string]>([
    ["aborted already", "select 1/0", "25P02"],
    ["read-only", "set transaction read only", "25006"],
    ["of a role without rights", "create role nobody_at_all; set local role nobody_at_all", "42501"],
  ])("because it is %s: the database's error passes unchanged, and the next transaction is as ever", async (_name, before, sqlState) => {
    const fresh = createQueue({ jobs: { a: job<number>() } });
    await using session = await openSession(database.url);
    for (const options of [{}, { key: "k" }]) {
      await session.query("begin");
      for (const statement of before.split("; ")) await session.query(statement).catch(() => {});
      expect(await rejectionOf(fresh.enqueue(session.executor, "a", 1, options))).toMatchObject({ code: sqlState });
      await session.query("rollback");
    }
    expect(await fresh.enqueue(session.executor, "a", 2, { key: "k" })).toMatchObject({ inserted: true });
    expect(await payloads()).toEqual([2]);
  });

  test("because its connection is gone: the call rejects, the transaction too, and nothing is there", async () => {
    const pool = database.newPool().on("connect", (client) => client.on("error", () => {}));
    const lost = kyselyOn<object>(pool)
      .transaction()
      .execute(async (trx) => {
        await queue.enqueue(trx, "a", 1);
        const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx);
        await database.pool.query("select pg_terminate_backend($1)", [rows[0]?.pid]);
        await expect(queue.enqueue(trx, "a", 2)).rejects.toThrow(/terminat/);
        await queue.enqueue(trx, "a", 3);
      });
    await expect(lost).rejects.toThrow(/not queryable|terminat/);
    expect(await payloads()).toEqual([]);
  });

  test("because its commit fails: a deferred constraint takes the job with it", async () => {
    const refused = db.transaction().execute(async (trx) => {
      await queue.enqueue(trx, "a", 1, { key: "k" });
      await sql`insert into child values (1)`.execute(trx);
    });
    expect(await rejectionOf(refused)).toMatchObject({ code: "23503" });
    expect(await queue.enqueue(db, "a", 2, { key: "k" })).toMatchObject({ inserted: true });
    expect(await payloads()).toEqual([2]);
  });
});

describe("transactions within transactions", () => {
  test("three savepoints deep: what is rolled back is gone, what is released stays, ids are in order", async () => {
    await db.transaction().execute(async (trx) => {
      await queue.enqueue(trx, "a", 1);
      await sql`savepoint one`.execute(trx);
      await queue.enqueue(trx, "a", 2);
      await sql`savepoint two`.execute(trx);
      await queue.enqueue(trx, "a", 3, { key: "three" });
      await sql`savepoint three`.execute(trx);
      await queue.enqueueMany(trx, [{ kind: "a", payload: 4 }]);
      await sql`rollback to savepoint two`.execute(trx);
      await sql`release savepoint one`.execute(trx);
      await queue.enqueue(trx, "a", 5, { key: "three" });
    });
    expect(await payloads()).toEqual([1, 2, 5]);
  });

  test("an error that a savepoint catches leaves the jobs around it", async () => {
    await db.transaction().execute(async (trx) => {
      await queue.enqueue(trx, "a", 1);
      await sql`savepoint risky`.execute(trx);
      await queue.enqueue(trx, "a", 2);
      await expect(sql`select 1/0`.execute(trx)).rejects.toThrow("division by zero");
      await sql`rollback to savepoint risky`.execute(trx);
      await queue.enqueue(trx, "a", 3);
    });
    expect(await payloads()).toEqual([1, 3]);
  });

  test("a function of the database that catches an exception takes the jobs in it back", async () => {
    await database.pool.query(`do $$ begin
      begin insert into queue.jobs (kind, payload) values ('a', '1'); raise 'no'; exception when others then null; end;
      insert into queue.jobs (kind, payload) values ('a', '2');
    end $$`);
    expect(await payloads()).toEqual([2]);
  });

  test("tables that are made in the transaction of the first job go with it, and that is said then", async () => {
    const other = createQueue({ schema: "other", jobs: { a: job<number>() } });
    const undone = db.transaction().execute(async (trx) => {
      await migrate(trx, other);
      await other.enqueue(trx, "a", 1);
      throw new Error("after all not");
    });
    expect((await rejectionOf(undone)).message).toBe("after all not");
    expect(await rejectionOf(other.enqueue(db, "a", 2))).toMatchObject({ code: "SCHEMA_MISSING" });
    await migrate(db, other);
    expect(await other.enqueue(db, "a", 3)).toMatchObject({ inserted: true });
  });

  test("statements that wait for an open transaction with jobs are only those that need its rows", async () => {
    await using holder = await openSession(database.url);
    await holder.query("begin");
    await queue.enqueue(holder.executor, "a", 1, { key: "held" });
    await queue.enqueue(db, "a", 2, { key: "free" });
    expect(await workerOn(db).claim()).toMatchObject([{ payload: "2" }]);
    expect(await queue.admin(db).health()).toMatchObject({ lanes: [{ ready: 0, running: 1 }] });
    await holder.query("rollback");
  });
});

describe("a transaction that is prepared (two-phase commit)", () => {
  let server: EmbeddedServer;
  let pool: pg.Pool;
  beforeAll(async () => {
    server = await startEmbeddedServer({ settings: { max_prepared_transactions: "5" } });
    pool = new pg.Pool({ connectionString: server.url });
    // The server may end a connection that is on its way out.
    pool.on("error", () => {});
    await migrate(kyselyOn(pool), queue);
  });
  afterAll(async () => {
    await pool.end();
    await server.stop();
  });

  test("is refused by PostgreSQL when it rings for a worker that sleeps, and undone as a whole", async () => {
    await using listener = await listenTo(server.url);
    await using session = await openSession(server.url);
    await session.query("begin");
    await queue.enqueue(session.executor, "a", 1, { key: "k" });
    expect(await rejectionOf(session.query("prepare transaction 'order-1'"))).toMatchObject({ code: "0A000" });
    expect((await pool.query("select from queue.jobs")).rowCount).toBe(0);
    expect((await pool.query("select from queue.job_keys")).rowCount).toBe(0);
    expect(await listener.heard()).toEqual([]);
  });

  test.each(["while nobody sleeps", "without the trigger"])(
    "is possible %s: the job is there when it is committed, and not before",
    async (how) => {
      await using listener = await listenTo(server.url, "queue", how === "without the trigger" ? [] : null);
      if (how === "without the trigger") await pool.query("alter table queue.jobs disable trigger announce_jobs");
      await using session = await openSession(server.url);
      await session.query("begin");
      await queue.enqueue(session.executor, "a", 1);
      await session.query("prepare transaction 'order-2'");
      expect(await workerOn(kyselyOn(pool)).claim()).toEqual([]);
      await session.query("commit prepared 'order-2'");
      expect(await workerOn(kyselyOn(pool)).claim()).toMatchObject([{ payload: "1" }]);
      expect(await listener.heard()).toEqual([]);
      await pool.query("truncate queue.jobs; alter table queue.jobs enable trigger announce_jobs");
    },
  );
});
