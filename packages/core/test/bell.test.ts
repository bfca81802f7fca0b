import { createQueue, job } from "@queue/core";
import { type ArmedBell, createWorkerStatements, runStatement } from "@queue/core/internal";
import { useTestDatabase } from "@queue/test-database";
import type { Kysely } from "kysely";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { kyselyOn } from "./support/kysely-on.js";
import { listenTo } from "./support/listener.js";
import { openSession, type Session } from "./support/session.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job() } });
const { armBell, muteBell, isBellSettled } = createWorkerStatements("queue");
let db: Kysely<object>;

beforeAll(() => {
  db = kyselyOn<object>(database.pool);
});

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.job_keys");
});

const enqueue = (lane = "default") => queue.enqueue(db, "a", null, { lane });
const withoutSecond = (payload: string) => payload.replace(/@\d+/, "");

async function arm({ executor }: Session, ...lanes: string[]): Promise<string | null> {
  const [armed] = await runStatement<{ lanes: string }, ArmedBell>(executor, armBell, { lanes: `{${lanes.join(",")}}` });
  return armed?.xid ?? null;
}

async function isSettled({ executor }: Session, xid: string | null): Promise<boolean> {
  const [answer] = await runStatement(executor, isBellSettled, { xid: xid ?? "" });
  return answer?.settled === 1;
}

/** Transactions of other databases of the server count as well. */
async function untilSettled(sleeper: Session, xid: string | null): Promise<void> {
  await expect.poll(() => isSettled(sleeper, xid), { timeout: 10_000 }).toBe(true);
}

/** Advisory locks in this database, of whoever holds them. */
async function keysHeld(): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    "select count(*)::int as count from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())",
  );
  return rows[0]?.count ?? 0;
}

describe("an enqueue", () => {
  test("rings for nobody while nobody sleeps", async () => {
    await using listener = await listenTo(database.url, "queue", null);
    await enqueue();
    expect(await listener.heard()).toEqual([]);
  });

  test("rings for who sleeps for all lanes, and does not when it has woken up", async () => {
    await using listener = await listenTo(database.url, "queue", null);
    await using sleeper = await openSession(database.url);
    await arm(sleeper);
    await enqueue("mail");
    expect((await listener.heard()).map(withoutSecond)).toEqual(["5 mail"]);
    await runStatement(sleeper.executor, muteBell, {});
    await enqueue("mail");
    expect(await listener.heard()).toEqual([]);
  });

  test("rings for the lanes only that somebody sleeps for", async () => {
    await using listener = await listenTo(database.url, "queue", ["mail", "night"]);
    await enqueue();
    expect(await listener.heard()).toEqual([]);
    await queue.enqueueMany(
      db,
      ["default", "mail", "other", "night"].map((lane) => ({ kind: "a" as const, payload: null, options: { lane } })),
    );
    expect((await listener.heard()).map(withoutSecond).sort()).toEqual(["5 mail", "5 night"]);
  });

  test("rings for one of several sleepers as for all of them, and for the one that is left", async () => {
    await using listener = await listenTo(database.url, "queue", null);
    await using staying = await openSession(database.url);
    await arm(staying);
    {
      await using leaving = await openSession(database.url);
      expect(await arm(leaving)).not.toBeNull();
    }
    await enqueue();
    expect(await listener.heard()).toHaveLength(1);
  });

  test("does not ring for a sleeper whose process has died", async () => {
    await using listener = await listenTo(database.url, "queue", null);
    await using sleeper = await openSession(database.url);
    await arm(sleeper);
    await database.pool.query("select pg_terminate_backend($1, 5000)", [sleeper.pid]);
    await enqueue();
    expect(await listener.heard()).toEqual([]);
  });

  test("of another queue rings for nobody here", async () => {
    await using listener = await listenTo(database.url, "another", null);
    await using sleeper = await openSession(database.url);
    const other = createWorkerStatements("another").armBell;
    await runStatement(sleeper.executor, other, { lanes: "{}" });
    await enqueue();
    expect(await listener.heard()).toEqual([]);
  });

  test.each(["session", "database"])("rings without asking where queue.bell is always, for a %s", async (scope) => {
    await using listener = await listenTo(database.url, "queue", null);
    const name = (await database.pool.query<{ name: string }>("select current_database() as name")).rows[0]?.name ?? "";
    if (scope === "database") await database.pool.query(`alter database "${name}" set queue.bell = 'always'`);
    await using session = await openSession(database.url);
    if (scope === "session") await session.query("set queue.bell = 'always'");
    await queue.enqueue(session.executor, "a", null);
    expect(await listener.heard()).toHaveLength(1);
    await database.pool.query(`alter database "${name}" reset queue.bell`);
  });

  test("leaves no key behind, whether it commits, rolls back, or rings", async () => {
    await using session = await openSession(database.url);
    await session.query("begin");
    await session.query("insert into queue.jobs (kind) values ('a')");
    expect(await keysHeld()).toBe(0);
    await session.query("rollback");
    await using sleeper = await openSession(database.url);
    await arm(sleeper);
    await session.query("insert into queue.jobs (kind) values ('a')");
    expect(await keysHeld()).toBe(2);
  });

  test("of thirty thousand lanes in one transaction takes no more of the server's locks than of one", async () => {
    await using sleeper = await openSession(database.url);
    await arm(sleeper, "mail");
    await using session = await openSession(database.url);
    await session.query("begin");
    await session.query("insert into queue.jobs (kind, lane) select 'a', 'lane ' || n from generate_series(1, 30000) as n");
    expect(await keysHeld()).toBe(2);
    await session.query("rollback");
  });
});

describe("arming the bell", () => {
  test("is settled at once when no transaction runs that may have looked before", async () => {
    await using sleeper = await openSession(database.url);
    const xid = await arm(sleeper);
    expect(xid).toMatch(/^\d+$/);
    await untilSettled(sleeper, xid);
  });

  test("is not settled before a transaction has ended that looked when nobody slept, and does not ring", async () => {
    await using listener = await listenTo(database.url, "queue", null);
    await using early = await openSession(database.url);
    await early.query("begin");
    await early.query("insert into queue.jobs (kind) values ('a')");
    await using sleeper = await openSession(database.url);
    const xid = await arm(sleeper);
    // Others come and go: the newest transaction says nothing about the oldest.
    await enqueue("other");
    expect(await isSettled(sleeper, xid)).toBe(false);
    await early.query("commit");
    expect((await listener.heard()).map(withoutSecond)).toEqual(["5 other"]);
    await untilSettled(sleeper, xid);
    expect((await database.pool.query("select from queue.jobs")).rowCount).toBe(2);
  });

  test("holds for transactions that begin to write after it, however old they are", async () => {
    await using listener = await listenTo(database.url, "queue", null);
    await using old = await openSession(database.url);
    await old.query("begin isolation level repeatable read");
    await old.query("select from queue.jobs");
    await using sleeper = await openSession(database.url);
    const xid = await arm(sleeper);
    await untilSettled(sleeper, xid);
    await old.query("insert into queue.jobs (kind) values ('a')");
    await old.query("commit");
    expect(await listener.heard()).toHaveLength(1);
  });

  test("never waits: while somebody looks at a key it says so, and what it has is given back", async () => {
    await using looker = await openSession(database.url);
    await looker.query("select pg_advisory_lock(hashtextextended($1, 0))", [
      (
        await database.pool.query<{ key: string }>(
          "select substring(prosrc from 'queue_[0-9a-f]{32}\\.bell\\.\\*') as key from pg_proc where proname = 'announce_jobs'",
        )
      ).rows[0]?.key,
    ]);
    await using sleeper = await openSession(database.url);
    expect(await arm(sleeper)).toBeNull();
    expect(await keysHeld()).toBe(2);
    await runStatement(sleeper.executor, muteBell, {});
    expect(await keysHeld()).toBe(1);
  });

  test("works where transactions are read-only or repeatable by default", async () => {
    await using sleeper = await openSession(database.url);
    await sleeper.query("set default_transaction_read_only = on; set default_transaction_isolation = 'serializable'");
    const xid = await arm(sleeper);
    expect(xid).not.toBeNull();
    await untilSettled(sleeper, xid);
  });
});
