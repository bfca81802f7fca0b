import { createQueue, job } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import type { Kysely } from "kysely";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { kyselyOn } from "./support/kysely-on.js";
import { rejectionOf } from "./support/thrown-by.js";
import { workerOn } from "./support/worker-on.js";

interface Shop {
  orders: { id: number; note: string };
  "queue.jobs": { id: string };
}

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job<{ orderId: number }>() } });
const payload = { orderId: 1 };
let db: Kysely<Shop>;

beforeAll(async () => {
  await database.pool.query("create table orders (id int primary key, note text not null default '')");
  db = kyselyOn<Shop>(database.pool);
});

beforeEach(async () => {
  await database.pool.query("truncate orders, queue.jobs, queue.job_keys");
});

async function counts(): Promise<{ orders: number; jobs: number }> {
  const { rows } = await database.pool.query(
    "select (select count(*)::int from orders) as orders, (select count(*)::int from queue.jobs) as jobs",
  );
  return rows[0] as { orders: number; jobs: number };
}

const placeOrder = (trx: Kysely<Shop>, id: number) => trx.insertInto("orders").values({ id, note: "" }).execute();

describe("a job and the rows of its transaction (B100)", () => {
  test("commit together; before the commit no worker sees the job", async () => {
    await db.transaction().execute(async (trx) => {
      await placeOrder(trx, 1);
      await queue.enqueue(trx, "a", payload);
      expect(await workerOn(kyselyOn(database.pool)).claim()).toEqual([]);
    });
    expect(await counts()).toEqual({ orders: 1, jobs: 1 });
    expect(await workerOn(kyselyOn(database.pool)).claim()).toHaveLength(1);
  });

  test("roll back together, and the key is free again", async () => {
    const reason = new Error("no stock");
    await expect(
      db.transaction().execute(async (trx) => {
        await placeOrder(trx, 1);
        await queue.enqueue(trx, "a", payload, { key: "k" });
        throw reason;
      }),
    ).rejects.toBe(reason);
    expect(await counts()).toEqual({ orders: 0, jobs: 0 });
    expect(await queue.enqueue(db, "a", payload, { key: "k" })).toMatchObject({ inserted: true });
  });

  test("of an inner savepoint that was rolled back, only the outer ones are there", async () => {
    const trx = await db.startTransaction().execute();
    await placeOrder(trx, 1);
    const outer = await queue.enqueue(trx, "a", payload, { key: "outer" });
    const inner = await trx.savepoint("inner").execute();
    await placeOrder(inner, 2);
    await queue.enqueue(inner, "a", payload, { key: "inner" });
    await queue.enqueueMany(inner, [{ kind: "a", payload }]);
    await inner.rollbackToSavepoint("inner").execute();
    await queue.enqueue(inner, "a", payload, { key: "after" });
    await inner.commit().execute();
    expect(await counts()).toEqual({ orders: 1, jobs: 2 });
    const { rows } = await database.pool.query("select id::text, idempotency_key as key from queue.jobs order by queue.jobs.id");
    expect(rows).toEqual([
      { id: outer.id, key: "outer" },
      { id: expect.any(String), key: "after" },
    ]);
  });

  test("an enqueue outside of a transaction that holds the only connection fails instead of hanging", async () => {
    const pool = database.newPool({ max: 1, connectionTimeoutMillis: 50 });
    const single = kyselyOn<Shop>(pool);
    await single.transaction().execute(async (trx) => {
      await queue.enqueue(trx, "a", payload);
      const error = await rejectionOf(queue.enqueue(single, "a", payload));
      expect(error.message).toContain("timeout exceeded when trying to connect");
    });
    expect(await counts()).toEqual({ orders: 0, jobs: 1 });
  });

  test("B61: a duplicate key leaves the transaction as it was", async () => {
    const first = await queue.enqueue(db, "a", payload, { key: "dup" });
    const again = await db.transaction().execute(async (trx) => {
      await placeOrder(trx, 1);
      const result = await queue.enqueue(trx, "a", payload, { key: "dup" });
      await placeOrder(trx, 2);
      return result;
    });
    expect(again).toEqual({ id: first.id, inserted: false });
    expect(await counts()).toEqual({ orders: 2, jobs: 1 });
  });

  test("the tables are there for the application's own joins, in the transaction and after it", async () => {
    await db.transaction().execute(async (trx) => {
      await placeOrder(trx, 1);
      await queue.enqueue(trx, "a", payload);
      expect(await trx.selectFrom("queue.jobs").select("id").execute()).toHaveLength(1);
    });
    expect(await db.selectFrom("queue.jobs").select("id").execute()).toHaveLength(1);
  });
});

describe("what the caller's isolation level says holds (B30)", () => {
  test("a rival that committed after the snapshot of REPEATABLE READ is 40001, unchanged, for the caller to restart", async () => {
    await queue.enqueue(db, "a", payload, { key: "warm up the check of the tables" });
    const error = await rejectionOf(
      db
        .transaction()
        .setIsolationLevel("repeatable read")
        .execute(async (trx) => {
          await trx.selectFrom("orders").selectAll().execute();
          await queue.enqueue(kyselyOn(database.pool), "a", payload, { key: "k" });
          return queue.enqueue(trx, "a", payload, { key: "k" });
        }),
    );
    expect(error).toMatchObject({ code: "40001" });
    expect(error.constructor.name).not.toBe("QueueError");
  });

  test.each(["repeatable read", "serializable"] as const)("in %s a key that was held before is a duplicate", async (level) => {
    const first = await queue.enqueue(db, "a", payload, { key: "k" });
    const again = await db
      .transaction()
      .setIsolationLevel(level)
      .execute((trx) => queue.enqueue(trx, "a", payload, { key: "k" }));
    expect(again).toEqual({ id: first.id, inserted: false });
  });
});

describe("an enqueue whose await was forgotten", () => {
  test("is still part of the transaction that it was called in, once the tables have been checked", async () => {
    await queue.enqueue(db, "a", payload);
    const forgotten: Promise<unknown>[] = [];
    await rejectionOf(
      db.transaction().execute(async (trx) => {
        await placeOrder(trx, 77);
        forgotten.push(queue.enqueue(trx, "a", payload, { key: "forgotten" }));
        throw new Error("the order is off");
      }),
    );
    await Promise.all(forgotten);
    expect(await db.selectFrom("queue.jobs").select("id").execute()).toHaveLength(1);
  });
});
