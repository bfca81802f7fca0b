import { createQueue, job, QueueError } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import { createTestQueue } from "@queue/testing";
import { Kysely, PostgresDialect, sql } from "kysely";
import { describe, expect, expectTypeOf, it } from "vitest";
import { queue } from "./support/shop-queue.js";

describe("createTestQueue", () => {
  it("makes a database with the tables of the queue, that works from enqueue to archive", async () => {
    await using test = await createTestQueue(queue);
    const { id } = await queue.enqueue(test.db, "tick", null);
    await test.drain({ tick: () => {} });
    expect(await test.admin.job(id)).toMatchObject({ status: "done" });
  });

  it("gives each test a database of its own", async () => {
    await using first = await createTestQueue(queue);
    await queue.enqueue(first.db, "tick", null);
    await using second = await createTestQueue(queue);
    expect((await second.admin.jobs()).items).toEqual([]);
    expect((await first.admin.jobs()).items).toHaveLength(1);
  });

  it("lets the application create its own tables, and types the database by them", async () => {
    interface Shop {
      orders: { id: string };
    }
    await using test = await createTestQueue(queue, {
      prepare: (db: Kysely<Shop>) => sql`create table orders (id text primary key)`.execute(db),
    });
    expectTypeOf(test.db).toEqualTypeOf<Kysely<Shop>>();
    await test.db.insertInto("orders").values({ id: "o1" }).execute();
    expect(await test.db.selectFrom("orders").selectAll().execute()).toEqual([{ id: "o1" }]);
  });

  it("rejects with what the application's tables fail by, and the next call is not affected", async () => {
    const prepare = (db: Kysely<unknown>) => sql`create table nonsense (`.execute(db);
    await expect(createTestQueue(queue, { prepare })).rejects.toThrow("syntax error");
    await using test = await createTestQueue(queue);
    expect((await test.admin.jobs()).items).toEqual([]);
  });

  it("makes the tables in the schema of the queue, whatever its name", async () => {
    const other = createQueue({ schema: 'odd "name"', jobs: { tick: job() } });
    await using test = await createTestQueue(other);
    await other.enqueue(test.db, "tick", null);
    expect(await test.drain({ tick: () => {} })).toMatchObject({ completed: 1 });
  });

  it("closes twice without harm, and a closed one is closed", async () => {
    const test = await createTestQueue(queue);
    await test.close();
    await test.close();
    await expect(queue.enqueue(test.db, "tick", null)).rejects.toThrow("closed");
  });

  it("rolls back jobs with the transaction they were enqueued in", async () => {
    await using test = await createTestQueue(queue);
    const failing = test.db.transaction().execute(async (trx) => {
      await queue.enqueue(trx, "tick", null);
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect((await test.admin.jobs()).items).toEqual([]);
  });

  it.each([
    ["an option that it does not know", { prepar: () => {} }, "prepar"],
    ["a prepare that is no function", { prepare: "tables.sql" }, "must be a function"],
    ["both a database and prepare", { db: {}, prepare: () => {} }, "has its tables already"],
    ["a database that is none", { db: {} }, "must be a Kysely"],
  ])("refuses %s", async (_name, options, part) => {
    const error = await createTestQueue(queue, options as object).catch((reason: unknown) => reason);
    expect(QueueError.is(error, "INVALID_OPTION")).toBe(true);
    expect(String(error)).toContain(part);
  });
});

describe("createTestQueue on a server", () => {
  const database = useTestDatabase({ template: "empty" });

  it("migrates the database that it is given, works there, and leaves it open", async () => {
    const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: database.newPool() }) });
    const test = await createTestQueue(queue, { db });
    expectTypeOf(test.db).toEqualTypeOf<Kysely<unknown>>();
    await queue.enqueue(db, "tick", null);
    await test.drain({ tick: { transactional: true, run: async (_job, { trx }) => void (await sql`select 1`.execute(trx)) } });
    await test.close();
    const { rows } = await sql<{ status: string }>`select status from queue.all_jobs`.execute(db);
    expect(rows).toEqual([{ status: "done" }]);
    await db.destroy();
  });
});
