import { sql } from "drizzle-orm";
import { drizzle as drizzleOnMySql } from "drizzle-orm/mysql-proxy";
import { drizzle as drizzleOnNeonHttp } from "drizzle-orm/neon-http";
import { drizzle as drizzleOnPostgresJs } from "drizzle-orm/postgres-js";
import { drizzle as drizzleOnSqlite } from "drizzle-orm/sqlite-proxy";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createQueue, job, type JsonValue } from "@queue/core";
import { migrate } from "@queue/core/migrations";
import { drizzleDatabase, fromDrizzle } from "@queue/drizzle";
import { useTestDatabase } from "@queue/test-database";
import { type Session, sessions } from "./sessions.js";

const database = useTestDatabase({ template: "empty" });
const queue = createQueue({ jobs: { note: job<JsonValue>() } });

describe.each(Object.entries(sessions))("Drizzle on %s", (_name, open) => {
  let session: Session;
  beforeAll(async () => {
    session = await open(database);
    await migrate(drizzleDatabase(session.db), queue);
  });
  afterAll(() => session?.close());

  test("goes with tx.rollback()", async () => {
    const undone = session.db.transaction(async (tx) => {
      await queue.enqueue(fromDrizzle(tx), "note", "undone");
      tx.rollback();
    });
    await expect(undone).rejects.toThrow("Rollback");
    expect((await queue.admin(drizzleDatabase(session.db)).jobs()).items).toEqual([]);
  });

  test("rejects with the driver's error, and not with one that has the payload in its message", async () => {
    await session.db.execute(sql`alter table queue.jobs add constraint no_secrets check (payload::text not like '%secret%') not valid`);
    onTestFinished(async () => void (await session.db.execute(sql`alter table queue.jobs drop constraint no_secrets`)));
    const error: unknown = await queue.enqueue(drizzleDatabase(session.db), "note", "secret").catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "23514" });
    expect(String(error)).not.toContain('secret"');
    expect(String(error)).toContain("no_secrets");
  });

  test("is one scope with the others of its drizzle(), whose tables need no second look", async () => {
    const { scope } = drizzleDatabase(session.db);
    expect(await session.db.transaction(async (tx) => fromDrizzle(tx).scope)).toBe(scope);
    expect(scope).toBeTypeOf("object");
  });

  test("is refused as a db where a transaction is wanted, and the other way round", async () => {
    expect(() => fromDrizzle(session.db as never)).toThrow(refusal("would not be in your transaction"));
    await session.db.transaction(async (tx) => {
      expect(() => drizzleDatabase(tx as never)).toThrow(refusal("a transaction"));
    });
  });
});

test("only PGlite is said to have one connection", async () => {
  const found: Record<string, unknown> = {};
  for (const [name, open] of Object.entries(sessions)) {
    const { db, close } = await open(database);
    found[name] = drizzleDatabase(db).hasOneConnection;
    await close();
  }
  expect(found).toEqual({ "node-postgres": false, "postgres.js": false, PGlite: true });
});

test("a transform of postgres.js changes the names of no column, and no payload", async () => {
  const client = postgres(database.url, { transform: postgres.camel, onnotice: () => {} });
  onTestFinished(() => client.end());
  const db = drizzleDatabase(drizzleOnPostgresJs(client));
  await migrate(db, queue);
  const { id } = await queue.enqueue(db, "note", { snake_case: { inner_key: 1 } }, { maxAttempts: 3 });
  expect(await queue.admin(db).job(id)).toMatchObject({ payload: { snake_case: { inner_key: 1 } }, maxAttempts: 3, attempts: 0 });
});

test("a drizzle() by HTTP has no transactions, and says so", async () => {
  const migrating = migrate(drizzleDatabase(drizzleOnNeonHttp.mock()), queue);
  await expect(migrating).rejects.toThrow("No transactions support in neon-http driver");
});

test.each([
  ["nothing", undefined, "undefined"],
  ["a promise", Promise.resolve(), "an await is missing"],
  ["any object", {}, "an object"],
  ["a drizzle() on MySQL", drizzleOnMySql(async () => ({ rows: [] })), 'another database ("MySqlDialect")'],
  ["a drizzle() on SQLite", drizzleOnSqlite(async () => ({ rows: [] })), 'another database ("SQLiteAsyncDialect")'],
])("drizzleDatabase refuses %s", (_name, value, part) => {
  expect(() => drizzleDatabase(value as never)).toThrow(refusal(part));
});

function refusal(part: string): unknown {
  return expect.objectContaining({ name: "QueueError", code: "INVALID_OPTION", message: expect.stringContaining(part) });
}
