import { createQueue, type EnqueueOptions, job } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import { beforeEach, describe, expect, test } from "vitest";
import { kyselyOn } from "./support/kysely-on.js";
import { openSession, untilBlocked } from "./support/session.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job<number>() } });
const holds: NonNullable<EnqueueOptions["keyHolds"]>[] = ["30d", "until-started", "until-ended"];

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.job_keys");
});

async function jobIds(): Promise<string[]> {
  const { rows } = await database.pool.query<{ id: string }>("select id::text from queue.jobs order by queue.jobs.id");
  return rows.map(({ id }) => id);
}

describe.each(holds)("B58: a second enqueue of a key that an open transaction holds %s", (keyHolds) => {
  test("waits, and is a duplicate when that commits", async () => {
    await using a = await openSession(database.url);
    await using b = await openSession(database.url);
    await a.query("begin");
    const first = await queue.enqueue(a.executor, "a", 1, { key: "u", keyHolds });
    await b.query("begin");
    const second = queue.enqueue(b.executor, "a", 2, { key: "u", keyHolds });
    await untilBlocked(database.pool, b);
    await a.query("commit");
    expect(await second).toEqual({ id: first.id, inserted: false });
    await b.query("commit");
    expect(await jobIds()).toEqual([first.id]);
  });

  test("waits, and inserts when that rolls back: no job is lost", async () => {
    await using a = await openSession(database.url);
    await using b = await openSession(database.url);
    await a.query("begin");
    const first = await queue.enqueue(a.executor, "a", 1, { key: "u", keyHolds });
    await b.query("begin");
    const second = queue.enqueue(b.executor, "a", 2, { key: "u", keyHolds });
    await untilBlocked(database.pool, b);
    await a.query("rollback");
    const { id, inserted } = await second;
    expect(inserted).toBe(true);
    expect(id).not.toBe(first.id);
    await b.query("commit");
    expect(await jobIds()).toEqual([id]);
  });

  test("in a batch waits for that one only, and the others are inserted", async () => {
    await using a = await openSession(database.url);
    await using b = await openSession(database.url);
    await a.query("begin");
    const first = await queue.enqueue(a.executor, "a", 1, { key: "m", keyHolds });
    const batch = queue.enqueueMany(
      b.executor,
      ["z", "m", "a"].map((key) => ({ kind: "a" as const, payload: 2, options: { key, keyHolds } })),
    );
    await untilBlocked(database.pool, b);
    await a.query("commit");
    const results = await batch;
    expect(results.map(({ inserted }) => inserted)).toEqual([true, false, true]);
    expect(results[1]?.id).toBe(first.id);
  });
});

describe("B59: fifty racers for one key", () => {
  test.each(holds)("that is held %s: one inserts, and all get its id, in each of twenty rounds", async (keyHolds) => {
    const pool = database.newPool({ max: 50 });
    const db = kyselyOn(pool);
    const racers = Array.from({ length: 50 });
    for (let round = 0; round < 20; round++) {
      const results = await Promise.all(racers.map((_, n) => queue.enqueue(db, "a", n, { key: `round-${round}`, keyHolds })));
      expect(new Set(results.map(({ id }) => id)).size).toBe(1);
      expect(results.filter(({ inserted }) => inserted)).toHaveLength(1);
    }
    expect(await jobIds()).toHaveLength(20);
    await pool.end();
  });

  test("that nobody held any more, held until the job ended: one takes it over", async () => {
    const pool = database.newPool({ max: 50 });
    const db = kyselyOn(pool);
    for (let round = 0; round < 20; round++) {
      const key = `round-${round}`;
      const { id } = await queue.enqueue(db, "a", 0, { key, keyHolds: "until-ended" });
      await queue.admin(db).cancel(id);
      const results = await Promise.all(Array.from({ length: 50 }, (_, n) => queue.enqueue(db, "a", n, { key, keyHolds: "until-ended" })));
      expect(new Set(results.map((result) => result.id)).size).toBe(1);
      expect(results.filter(({ inserted }) => inserted)).toHaveLength(1);
    }
    expect(await jobIds()).toHaveLength(20);
    await pool.end();
  });
});

describe("batches with their keys in opposite order", () => {
  test.each(["fresh keys", "keys that are held", "keys to take over"])("never deadlock, in 200 rounds: %s", async (state) => {
    await using a = await openSession(database.url);
    await using b = await openSession(database.url);
    const db = kyselyOn(database.pool);
    const size = 10;
    const items = (round: number) =>
      Array.from({ length: size }, (_, n) => ({
        kind: "a" as const,
        payload: n,
        options: { key: `${state === "fresh keys" ? round : "same"}-${n}`, keyHolds: holds[n % holds.length] },
      }));
    if (state !== "fresh keys") await queue.enqueueMany(db, items(0));
    for (let round = 0; round < 200; round++) {
      if (state === "keys to take over") {
        await database.pool.query(
          "update queue.jobs set status = 'dead'; update queue.job_keys set expires_at = now() where release_on is null",
        );
      }
      const both = await Promise.all([
        inTransaction(a, () => queue.enqueueMany(a.executor, items(round))),
        inTransaction(b, () => queue.enqueueMany(b.executor, items(round).reverse()).then((results) => results.reverse())),
      ]);
      expect(both[1].map(({ id }) => id)).toEqual(both[0].map(({ id }) => id));
      const inserted = both.flat().filter((result) => result.inserted).length;
      expect(inserted).toBe(state === "keys that are held" ? 0 : size);
    }
  });
});

async function inTransaction<T>(session: { query(sql: string): Promise<unknown> }, work: () => Promise<T>): Promise<T> {
  await session.query("begin");
  const result = await work();
  await session.query("commit");
  return result;
}
