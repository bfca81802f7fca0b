import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type OpenPglite, openPglite } from "@queue/pglite";

interface Database {
  notes: { id: number; text: string };
}

let database: OpenPglite<Database>;

beforeAll(async () => {
  database = await openPglite<Database>();
  await database.pglite.exec("create table notes (id int primary key, text text not null)");
});
beforeEach(() => database.pglite.exec("truncate notes"));
afterAll(() => database.close());

const note = (id: number) => ({ id, text: `note ${id}` });
const notes = async () => (await database.db.selectFrom("notes").select("id").orderBy("id").execute()).map(({ id }) => id);

describe("queries", () => {
  test("return rows, and the number of rows they changed", async () => {
    const inserted = await database.db
      .insertInto("notes")
      .values([note(1), note(2)])
      .executeTakeFirst();
    expect(inserted.numInsertedOrUpdatedRows).toBe(2n);
    const updated = await database.db.updateTable("notes").set({ text: "new" }).where("id", "=", 2).executeTakeFirst();
    expect(updated.numUpdatedRows).toBe(1n);
    const deleted = await database.db.deleteFrom("notes").returning("id").execute();
    expect(deleted).toEqual([{ id: 1 }, { id: 2 }]);
  });

  test("reject with the error of PostgreSQL, and leave the connection usable", async () => {
    await expect(sql`select 1 / 0`.execute(database.db)).rejects.toMatchObject({ code: "22012" });
    expect(await notes()).toEqual([]);
  });

  test("are streamed in chunks", async () => {
    await database.db.insertInto("notes").values([1, 2, 3, 4, 5].map(note)).execute();
    const ids: number[] = [];
    for await (const { id } of database.db.selectFrom("notes").select("id").orderBy("id").stream(2)) ids.push(id);
    expect(ids).toEqual([1, 2, 3, 4, 5]);
  });
});

describe("transactions", () => {
  test("commit, and roll back when the callback throws", async () => {
    await database.db.transaction().execute((trx) => trx.insertInto("notes").values(note(1)).execute());
    const failure = database.db.transaction().execute(async (trx) => {
      await trx.insertInto("notes").values(note(2)).execute();
      throw new Error("changed my mind");
    });
    await expect(failure).rejects.toThrow("changed my mind");
    expect(await notes()).toEqual([1]);
  });

  test.each(["read committed", "repeatable read", "serializable"] as const)("run at the isolation level %s", async (level) => {
    const shown = await database.db
      .transaction()
      .setIsolationLevel(level)
      .execute(async (trx) => (await sql<{ level: string }>`select current_setting('transaction_isolation') as level`.execute(trx)).rows);
    expect(shown).toEqual([{ level }]);
  });

  test("honour the access mode, alone and with an isolation level", async () => {
    const readOnly = database.db.transaction().setAccessMode("read only");
    await expect(readOnly.execute((trx) => trx.insertInto("notes").values(note(1)).execute())).rejects.toMatchObject({ code: "25006" });
    await expect(
      readOnly.setIsolationLevel("serializable").execute((trx) => trx.insertInto("notes").values(note(1)).execute()),
    ).rejects.toMatchObject({ code: "25006" });
    await database.db
      .transaction()
      .setAccessMode("read write")
      .execute((trx) => trx.insertInto("notes").values(note(1)).execute());
    expect(await notes()).toEqual([1]);
  });

  test("refuse an isolation level that PostgreSQL does not have, and free the connection", async () => {
    await expect(
      database.db
        .transaction()
        .setIsolationLevel("snapshot")
        .execute(async () => {}),
    ).rejects.toMatchObject({ code: "42601" });
    expect(await notes()).toEqual([]);
  });

  test("have savepoints, with names that need quoting", async () => {
    const trx = await database.db.startTransaction().execute();
    await trx.insertInto("notes").values(note(1)).execute();
    const inner = await trx.savepoint('a "b"').execute();
    await inner.insertInto("notes").values(note(2)).execute();
    await expect(inner.insertInto("notes").values(note(2)).execute()).rejects.toMatchObject({ code: "23505" });
    const outer = await inner.rollbackToSavepoint('a "b"').execute();
    await outer.insertInto("notes").values(note(3)).execute();
    const last = await outer.savepoint("c").execute();
    await last.releaseSavepoint("c").execute();
    await trx.commit().execute();
    expect(await notes()).toEqual([1, 3]);
  });

  test("do not pretend to commit what PostgreSQL rolled back", async () => {
    const swallowing = database.db.transaction().execute(async (trx) => {
      await trx.insertInto("notes").values(note(1)).execute();
      await sql`select 1 / 0`.execute(trx).catch(() => {});
    });
    await expect(swallowing).rejects.toMatchObject({ code: "25P02" });
    expect(await notes()).toEqual([]);
  });

  test("reject when the commit itself fails", async () => {
    await database.pglite.exec("create table children (note int references notes deferrable initially deferred)");
    const orphaned = database.db.transaction().execute((trx) => sql`insert into children values (99)`.execute(trx));
    await expect(orphaned).rejects.toMatchObject({ code: "23503" });
    await database.pglite.exec("drop table children");
    expect(await notes()).toEqual([]);
  });
});

describe("the one connection", () => {
  test("is given out in the order that it was asked for", async () => {
    const order: string[] = [];
    const [first, second, third] = ["first", "second", "third"].map((name) =>
      database.db.transaction().execute(async (trx) => {
        order.push(`${name} begins`);
        await trx.selectFrom("notes").selectAll().execute();
        order.push(`${name} ends`);
      }),
    );
    const query = notes().then(() => order.push("query"));
    await Promise.all([first, second, third, query]);
    expect(order).toEqual(["first begins", "first ends", "second begins", "second ends", "third begins", "third ends", "query"]);
  });

  test("keeps what goes past Kysely out of its transactions", async () => {
    let seenOutside: Promise<unknown> | undefined;
    const failure = database.db.transaction().execute(async (trx) => {
      await trx.insertInto("notes").values(note(1)).execute();
      seenOutside = database.pglite.query("select id from notes").then(({ rows }) => rows);
      await trx.selectFrom("notes").selectAll().execute();
      throw new Error("rolled back");
    });
    await expect(failure).rejects.toThrow("rolled back");
    expect(await seenOutside).toEqual([]);
  });

  test("keeps its session between queries of db.connection()", async () => {
    const seen = await database.db.connection().execute(async (connection) => {
      await sql`select set_config('app.name', 'mine', false)`.execute(connection);
      return (await sql<{ name: string }>`select current_setting('app.name') as name`.execute(connection)).rows;
    });
    expect(seen).toEqual([{ name: "mine" }]);
  });
});
