import { createQueue, job } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import { type Kysely, sql } from "kysely";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { kyselyOn } from "../support/kysely-on.js";
import { seededRandom } from "../support/seeded-random.js";
import { openSession, untilBlocked } from "../support/session.js";
import { rejectionOf } from "../support/thrown-by.js";

const database = useTestDatabase();
const kindOfFullLength = "k".repeat(200);
const queue = createQueue({ jobs: { a: job<number>(), b: job<number>(), [kindOfFullLength]: job<number>() } });
const holds = ["30d", "until-ended", "until-started"] as const;
let db: Kysely<object>;

beforeAll(() => {
  db = kyselyOn<object>(database.pool);
});
beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.job_keys restart identity");
});

async function jobs(): Promise<number> {
  return (await database.pool.query("select from queue.jobs")).rowCount ?? 0;
}

describe("keys that look alike", () => {
  const keys = [
    "a",
    "A",
    "a ",
    " a",
    "a\t",
    "a\n",
    "\u00E9",
    "e\u0301",
    "\uFB01",
    "fi",
    "\u212A",
    "K",
    "\u0131",
    "i",
    "I",
    "\u0130",
    "stra\u00DFe",
    "strasse",
    "\u200Ba",
    "a\u00AD",
    "0",
    "00",
    "null",
    "NULL",
    "{a}",
    '"a"',
    "a\\",
    "\u{1F981}",
  ];

  test.each(holds)("are different keys, byte by byte, and each is held (%s)", async (keyHolds) => {
    const first = await queue.enqueueMany(
      db,
      keys.map((key) => ({ kind: "a", payload: 1, options: { key, keyHolds } }) as const),
    );
    expect(first.every(({ inserted }) => inserted)).toBe(true);
    const again = [];
    for (const key of keys) again.push(await queue.enqueue(db, "a", 2, { key, keyHolds }));
    expect(again).toEqual(first.map(({ id }) => ({ id, inserted: false })));
  });

  test("of two kinds are two keys", async () => {
    expect(await queue.enqueue(db, "a", 1, { key: "k" })).toMatchObject({ inserted: true });
    expect(await queue.enqueue(db, "b", 1, { key: "k" })).toMatchObject({ inserted: true });
  });
});

describe("the length of a key", () => {
  const random = seededRandom(7);
  const incompressible = (length: number) => Array.from({ length }, () => String.fromCharCode(33 + Math.floor(random() * 90))).join("");

  test.each([incompressible(1_000), "\u00E9".repeat(500), "\u{1F981}".repeat(250)])(
    "of 1,000 bytes fits, with the longest name of a kind (%#)",
    async (key) => {
      const { id } = await queue.enqueue(db, kindOfFullLength, 1, { key });
      expect(await queue.enqueue(db, kindOfFullLength, 1, { key })).toEqual({ id, inserted: false });
    },
  );

  test.each(["x".repeat(1_001), "\u00E9".repeat(501), "x".repeat(5_000_000), "", "a\u0000", "\uD800", 5, null, {}, ["k"]])(
    "%# is refused before any SQL",
    async (key) => {
      await db.transaction().execute(async (trx) => {
        expect(await rejectionOf(queue.enqueue(trx, "a", 1, { key: key as string }))).toMatchObject({
          code: "INVALID_OPTION",
          option: "key",
        });
        await sql`select 1`.execute(trx);
      });
    },
  );
});

describe("a key in a savepoint", () => {
  test.each(holds)("that is rolled back is free again, in the same transaction and for others (%s)", async (keyHolds) => {
    await using session = await openSession(database.url);
    await session.query("begin");
    await session.query("savepoint one");
    const inner = await queue.enqueue(session.executor, "a", 1, { key: "k", keyHolds });
    await session.query("rollback to savepoint one");
    const outer = await queue.enqueue(session.executor, "a", 2, { key: "k", keyHolds });
    expect([inner.inserted, outer.inserted, outer.id === inner.id]).toEqual([true, true, false]);
    await session.query("savepoint two");
    expect(await queue.enqueue(session.executor, "a", 3, { key: "k", keyHolds })).toEqual({ id: outer.id, inserted: false });
    await session.query("rollback to savepoint two");
    await session.query("commit");
    expect(await queue.enqueue(db, "a", 4, { key: "k", keyHolds })).toEqual({ id: outer.id, inserted: false });
    expect(await jobs()).toBe(1);
  });

  test("that is rolled back while another waits for it goes to the other", async () => {
    await using holder = await openSession(database.url);
    await using other = await openSession(database.url);
    await holder.query("begin; savepoint one");
    await queue.enqueue(holder.executor, "a", 1, { key: "k" });
    const waiting = queue.enqueue(other.executor, "a", 2, { key: "k" });
    await untilBlocked(database.pool, other, waiting);
    await holder.query("rollback to savepoint one");
    expect(await waiting).toMatchObject({ inserted: true });
    expect(await queue.enqueue(holder.executor, "a", 3, { key: "k" })).toEqual({ id: (await waiting).id, inserted: false });
    await holder.query("commit");
    expect(await jobs()).toBe(1);
  });
});

describe("keys within one transaction", () => {
  test("a job that was enqueued and cancelled leaves its key, when it holds until its end", async () => {
    await db.transaction().execute(async (trx) => {
      const first = await queue.enqueue(trx, "a", 1, { key: "k", keyHolds: "until-ended" });
      await queue.admin(trx).cancel(first.id);
      expect(await queue.enqueue(trx, "a", 2, { key: "k", keyHolds: "until-ended" })).toMatchObject({ inserted: true });
    });
    expect(await jobs()).toBe(1);
  });

  test("five thousand items of one key are one job, the first, whatever their options say", async () => {
    const results = await queue.enqueueMany(
      db,
      Array.from(
        { length: 5_000 },
        (_, n) => ({ kind: "a", payload: n, options: { key: "k", keyHolds: holds[n % 3], priority: 5, lane: `l${n % 7}` } }) as const,
      ),
    );
    expect(results.filter(({ inserted }) => inserted)).toEqual([results[0]]);
    expect(new Set(results.map(({ id }) => id)).size).toBe(1);
    const { rows } = await database.pool.query("select payload, lane from queue.jobs");
    expect(rows).toEqual([{ payload: 0, lane: "l0" }]);
  });

  test("two transactions that take two keys in opposite order do not both wait for ever: one is told 40P01, unchanged", async () => {
    await using one = await openSession(database.url);
    await using two = await openSession(database.url);
    await Promise.all([one.query("begin"), two.query("begin; set local deadlock_timeout = '50ms'")]);
    await queue.enqueue(one.executor, "a", 1, { key: "x" });
    await queue.enqueue(two.executor, "a", 1, { key: "y" });
    const waiting = queue.enqueue(one.executor, "a", 1, { key: "y" });
    await untilBlocked(database.pool, one, waiting);
    expect(await rejectionOf(queue.enqueue(two.executor, "a", 1, { key: "x" }))).toMatchObject({ code: "40P01" });
    await two.query("rollback");
    expect(await waiting).toMatchObject({ inserted: true });
    await one.query("commit");
    expect(await jobs()).toBe(2);
  });

  test("a statement_timeout while it waits for a holder is the caller's error, and leaves no key behind", async () => {
    await using holder = await openSession(database.url);
    await holder.query("begin");
    const held = await queue.enqueue(holder.executor, "a", 1, { key: "k" });
    const impatient = db.transaction().execute(async (trx) => {
      await sql`set local statement_timeout = '50ms'`.execute(trx);
      await queue.enqueue(trx, "a", 2, { key: "k" });
    });
    expect(await rejectionOf(impatient)).toMatchObject({ code: "57014" });
    await holder.query("commit");
    expect(await queue.enqueue(db, "a", 3, { key: "k" })).toEqual({ id: held.id, inserted: false });
  });
});

describe("keys whose jobs were removed by other means", () => {
  test("until-ended and until-started are free when the table of jobs was truncated; those for a time are held", async () => {
    for (const keyHolds of holds) await queue.enqueue(db, "a", 1, { key: keyHolds, keyHolds });
    await database.pool.query("truncate queue.jobs");
    const again = [];
    for (const keyHolds of holds) again.push((await queue.enqueue(db, "a", 2, { key: keyHolds, keyHolds })).inserted);
    expect(again).toEqual([false, true, true]);
  });
});
