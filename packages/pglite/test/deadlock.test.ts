import { afterAll, beforeAll, expect, test } from "vitest";
import { QueueError } from "@queue/core";
import { type OpenPglite, openPglite } from "@queue/pglite";

interface Database {
  notes: { id: number };
}

let database: OpenPglite<Database>;

beforeAll(async () => {
  database = await openPglite<Database>();
  await database.pglite.exec("create table notes (id int)");
});
afterAll(() => database.close());

const isDeadlock = (error: unknown) =>
  QueueError.is(error, "INVALID_OPTION") && error.option === "db" && error.message.includes("Use `trx`");
const countNotes = async (db = database.db) =>
  Number(
    (
      await db
        .selectFrom("notes")
        .select(({ fn }) => fn.countAll().as("count"))
        .executeTakeFirstOrThrow()
    ).count,
  );

test("a query on db that the callback of a transaction waits for is rejected instead of hanging", async () => {
  const transaction = database.db.transaction().execute(async (trx) => {
    await trx.insertInto("notes").values({ id: 1 }).execute();
    await database.db.insertInto("notes").values({ id: 2 }).execute();
  });
  await expect(transaction).rejects.toSatisfy(isDeadlock);
  expect(await countNotes()).toBe(0);
});

test("so is a transaction inside a transaction, however deep in the callback it is begun", async () => {
  const writeElsewhere = () => database.db.transaction().execute((trx) => trx.insertInto("notes").values({ id: 1 }).execute());
  const transaction = database.db.transaction().execute(async (trx) => {
    await trx.selectFrom("notes").selectAll().execute();
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([trx.selectFrom("notes").selectAll().execute(), writeElsewhere()]);
  });
  await expect(transaction).rejects.toSatisfy(isDeadlock);
});

test("the transaction goes on when it survives the error", async () => {
  await database.db.transaction().execute(async (trx) => {
    await expect(countNotes()).rejects.toSatisfy(isDeadlock);
    expect(await countNotes(trx)).toBe(0);
  });
});

test("a query that the callback sends off without waiting gets its turn after the commit", async () => {
  let count: Promise<number> | undefined;
  await database.db.transaction().execute(async (trx) => {
    await trx.insertInto("notes").values({ id: 1 }).execute();
    count = countNotes();
    await trx.insertInto("notes").values({ id: 2 }).execute();
  });
  expect(await count).toBe(2);
  await database.db.deleteFrom("notes").execute();
});

test("queries from other contexts wait for longer than it takes to find a deadlock, and get their turn", async () => {
  let outside: Promise<number> | undefined;
  const begun = new Promise<void>((begin) => {
    outside = database.db
      .transaction()
      .execute(async (trx) => {
        await trx.insertInto("notes").values({ id: 1 }).execute();
        begin();
        await expect(countNotes()).rejects.toSatisfy(isDeadlock);
      })
      .then(() => -1);
  });
  await begun;
  expect(await Promise.all([countNotes(), database.db.transaction().execute((trx) => countNotes(trx)), outside])).toEqual([1, 1, -1]);
  await database.db.deleteFrom("notes").execute();
});

test("a context that outlives its transaction is like any other", async () => {
  let goOn: () => void = () => {};
  const afterwards = new Promise<void>((resolve) => (goOn = resolve));
  let late: Promise<number> | undefined;
  await database.db.transaction().execute(async (trx) => {
    await trx.insertInto("notes").values({ id: 1 }).execute();
    late = afterwards.then(() => countNotes());
  });
  await database.db.transaction().execute(async () => {
    goOn();
    await expect(countNotes()).rejects.toSatisfy(isDeadlock);
  });
  expect(await late).toBe(1);
  await database.db.deleteFrom("notes").execute();
});
