import { createQueue, job, QueueError } from "@queue/core";
import { migrate } from "@queue/core/migrations";
import { useTestDatabase } from "@queue/test-database";
import { type Kysely, sql, type Transaction } from "kysely";
import { beforeEach, describe, expect, test } from "vitest";
import { kyselyOn } from "./support/kysely-on.js";
import { executorOn, openSession } from "./support/session.js";
import { rejectionOf } from "./support/thrown-by.js";

const database = useTestDatabase({ template: "empty" });
const queue = createQueue({ jobs: { a: job<number>() } });
const older = "delete from queue.migrations";
const newer = "insert into queue.migrations (name, breaks_older_workers) values ('9999-later', true)";
const newerButFriendly = "insert into queue.migrations (name, breaks_older_workers) values ('9999-later', false)";

beforeEach(async () => {
  await database.pool.query("drop schema if exists queue cascade");
});

/** A database that this process has not seen yet. */
const freshKysely = (): Kysely<object> => kyselyOn<object>(database.pool);

const calls: [name: string, call: (trx: Transaction<object>) => Promise<unknown>][] = [
  ["enqueue", (trx) => queue.enqueue(trx, "a", 1)],
  ["enqueue with a key", (trx) => queue.enqueue(trx, "a", 1, { key: "k" })],
  ["enqueueMany", (trx) => queue.enqueueMany(trx, [{ kind: "a", payload: 1 }])],
  ["admin.health", (trx) => queue.admin(trx).health()],
  ["admin.job", (trx) => queue.admin(trx).job("1")],
  ["admin.jobs", (trx) => queue.admin(trx).jobs()],
  ["admin.retry", (trx) => queue.admin(trx).retry("1")],
  ["admin.cancel", (trx) => queue.admin(trx).cancel("1")],
  ["admin.redrive", (trx) => queue.admin(trx).redrive({ all: true })],
  ["admin.pause", (trx) => queue.admin(trx).pause("mail")],
  ["admin.resume", (trx) => queue.admin(trx).resume("mail")],
];

async function expectRefusal(call: (trx: Transaction<object>) => Promise<unknown>, expected: object): Promise<QueueError> {
  return freshKysely()
    .transaction()
    .execute(async (trx) => {
      const error = await rejectionOf(call(trx));
      expect(error).toMatchObject({ isRetryable: false, ...expected });
      expect((await sql<{ one: number }>`select 1 as one`.execute(trx)).rows).toEqual([{ one: 1 }]);
      return error as QueueError;
    });
}

describe.each(calls)("%s leaves the caller's transaction usable", (_name, call) => {
  test("when there is no schema, or a schema without tables", async () => {
    await expectRefusal(call, { code: "SCHEMA_MISSING", schema: "queue" });
    await database.pool.query("create schema queue");
    await expectRefusal(call, { code: "SCHEMA_MISSING", schema: "queue" });
  });

  test("B111: when the tables are older, and when they are newer and break it", async () => {
    await migrate(freshKysely());
    await database.pool.query(newer);
    await expectRefusal(call, { code: "SCHEMA_TOO_NEW", schema: "queue", expected: "0001-initial", found: "9999-later" });
    await database.pool.query(older);
    await expectRefusal(call, { code: "SCHEMA_TOO_OLD", schema: "queue", expected: "0001-initial", found: "nothing" });
  });
});

describe("the check of the tables", () => {
  test("says what to do", async () => {
    const missing = await expectRefusal((trx) => queue.enqueue(trx, "a", 1), { code: "SCHEMA_MISSING" });
    expect(missing.message).toContain('Run `await migrate(db, queue)` (from "@queue/core/migrations") once, when you deploy.');
    await migrate(freshKysely());
    await database.pool.query(newer);
    const tooNew = await expectRefusal((trx) => queue.enqueue(trx, "a", 1), { code: "SCHEMA_TOO_NEW" });
    expect(tooNew.message).toContain("Deploy the newer package.");
  });

  test("lets a newer schema pass that says it breaks nobody", async () => {
    await migrate(freshKysely());
    await database.pool.query(newerButFriendly);
    expect(await queue.enqueue(freshKysely(), "a", 1)).toMatchObject({ inserted: true });
  });

  test("is made once for a database and its transactions, and again for another; only a good answer is remembered", async () => {
    const sent: string[] = [];
    const executor = executorOn(database.pool, sent);
    const looks = () => sent.filter((text) => text.includes("migrations")).length;
    await rejectionOf(queue.enqueue(executor, "a", 1));
    await rejectionOf(queue.enqueue(executor, "a", 1));
    expect(looks()).toBe(2);
    await migrate(freshKysely());
    await queue.enqueue(executor, "a", 1);
    expect(looks()).toBe(4);
    await queue.enqueue(executor, "a", 1);
    await queue.enqueue({ ...executor }, "a", 1);
    await queue.admin(executor).jobs();
    expect(looks()).toBe(4);
    await queue.enqueue({ ...executor, scope: {} }, "a", 1);
    expect(looks()).toBe(6);
    const other = createQueue({ jobs: { a: job<number>() } });
    await other.enqueue(executor, "a", 1);
    expect(looks()).toBe(8);
  });

  test("sends nothing when there is nothing to enqueue", async () => {
    const sent: string[] = [];
    expect(await queue.enqueueMany(executorOn(database.pool, sent), [])).toEqual([]);
    expect(sent).toEqual([]);
  });

  test("tables that disappear later are SCHEMA_MISSING too, with the driver's error as the cause", async () => {
    const db = freshKysely();
    await migrate(db);
    await queue.enqueue(db, "a", 1);
    await database.pool.query("drop schema queue cascade");
    const error = await rejectionOf(queue.enqueue(db, "a", 1));
    expect(QueueError.is(error, "SCHEMA_MISSING")).toBe(true);
    expect(["42P01", "3F000"]).toContain((error.cause as { readonly code?: string }).code);
  });

  test("an error of the database that is not about the tables passes unchanged", async () => {
    await migrate(freshKysely());
    await using session = await openSession(database.url);
    await session.query("begin read only");
    const error = await rejectionOf(queue.enqueue(session.executor, "a", 1));
    expect(error).toMatchObject({ code: "25006" });
    expect(QueueError.is(error)).toBe(false);
    await session.query("rollback");
  });
});

test("a driver that gives booleans as texts, of which each counts as true, finds the tables as they are", async () => {
  await migrate(freshKysely(), queue);
  await database.pool.query(newerButFriendly);
  const db = kyselyOn<object>(database.newPool({ types: { getTypeParser: () => String } }));
  expect(await queue.enqueue(db, "a", 1)).toMatchObject({ inserted: true });
});
