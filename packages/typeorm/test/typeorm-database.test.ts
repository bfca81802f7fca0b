import { DataSource } from "typeorm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { QueueError } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import { typeormDatabase } from "@queue/typeorm";
import { orders } from "./orders.js";

const database = useTestDatabase({ template: "empty" });
let dataSource: DataSource;

beforeAll(async () => {
  await database.pool.query("create table orders (id text primary key deferrable initially deferred)");
  const options = "-c default_transaction_read_only=on -c default_transaction_isolation=serializable";
  dataSource = new DataSource({
    type: "postgres",
    url: database.url,
    entities: [orders],
    isolationLevel: "REPEATABLE READ",
    poolErrorHandler() {},
    extra: { max: 2, options },
  });
  await dataSource.initialize();
});
afterAll(() => dataSource.destroy());

const ids = async (): Promise<string[]> => (await dataSource.manager.find(orders, { order: { id: "asc" } })).map(({ id }) => id);

describe("typeormDatabase", () => {
  test("begins transactions at READ COMMITTED that may write, whatever the defaults, and commits what TypeORM and the executor wrote", async () => {
    const seen = await typeormDatabase(dataSource).transaction(async (manager, executor) => {
      await manager.insert(orders, { id: "a" });
      await executor.execute({ sql: "insert into orders values ($1::text)", parameters: ["b"] });
      return manager.query<unknown>("select current_setting('transaction_isolation') as level");
    });
    expect(seen).toEqual([{ level: "read committed" }]);
    expect(await ids()).toEqual(["a", "b"]);
  });

  test("commits nothing, and gives a clean connection back, when a nested transaction was left open", async () => {
    const before = await ids();
    for (let n = 0; n < 5; n++) {
      const leaving = typeormDatabase(dataSource).transaction(async (manager) => {
        await manager.insert(orders, { id: `left open ${n}` });
        await manager.queryRunner?.startTransaction();
        if (n % 2 === 0) throw new Error("no stock");
      });
      await expect(leaving).rejects.toThrow(n % 2 === 0 ? "no stock" : "A nested transaction was begun and not ended");
    }
    expect(await ids()).toEqual(before);
    expect(
      (await database.pool.query("select from pg_stat_activity where state like 'idle in transaction%' and datname = current_database()"))
        .rowCount,
    ).toBe(0);
  });

  test.each([
    ["an error", new Error("no stock")],
    ["a text", "no stock"],
    ["nothing", undefined],
  ])("rejects with what its callback rejected with: %s", async (_name, thrown) => {
    const transaction = typeormDatabase(dataSource).transaction(async (manager) => {
      await manager.insert(orders, { id: "lost" });
      throw thrown;
    });
    expect(
      await transaction.then(
        () => "resolved",
        (error: unknown) => ({ error }),
      ),
    ).toEqual({ error: thrown });
    expect(await ids()).not.toContain("lost");
  });

  test("rejects with the callback's error when the connection is lost, too", async () => {
    const thrown = new Error("no stock");
    const transaction = typeormDatabase(dataSource).transaction(async (_manager, executor) => {
      await executor.execute({ sql: "select pg_terminate_backend(pg_backend_pid())", parameters: [] }).catch(() => {});
      throw thrown;
    });
    expect(await transaction.catch((error: unknown) => error)).toBe(thrown);
    expect(await ids()).toEqual(["a", "b"]);
  });

  test("rejects when the commit fails", async () => {
    const transaction = typeormDatabase(dataSource).transaction((manager) => manager.insert(orders, { id: "a" }));
    await expect(transaction).rejects.toMatchObject({ code: "23505" });
  });

  test("gives its two connections back after fifty failures of each sort", async () => {
    const db = typeormDatabase(dataSource);
    const failing = { sql: "select 1 / 0", parameters: [] };
    const failures = await Promise.allSettled(
      Array.from({ length: 50 }, () => [
        db.execute(failing),
        db.transaction((_manager, executor) => executor.execute(failing)),
        db.transaction((manager) => manager.insert(orders, { id: "a" })),
        db.transaction(async () => {
          throw new Error("no stock");
        }),
      ]).flat(),
    );
    expect(new Set(failures.map(({ status }) => status))).toEqual(new Set(["rejected"]));
    const both = await Promise.all(
      [1, 2].map(() => db.transaction((_manager, executor) => executor.execute({ sql: "select 1 as ok", parameters: [] }))),
    );
    expect(both.map(({ rows }) => rows)).toEqual([[{ ok: 1 }], [{ ok: 1 }]]);
  });

  test.each([undefined, null, {}, "postgres://localhost"])("refuses what is no DataSource: %s", (value) => {
    expect(
      QueueError.is(
        thrownBy(() => typeormDatabase(value as DataSource)),
        "INVALID_OPTION",
      ),
    ).toBe(true);
  });
});

function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error("It did not throw.");
}
