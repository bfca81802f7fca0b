import { DataSource } from "typeorm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { useTestDatabase } from "@queue/test-database";
import { typeormDatabase } from "@queue/typeorm";
import { orders } from "./orders.js";

const database = useTestDatabase({ template: "empty" });
let dataSource: DataSource;

beforeAll(async () => {
  await database.pool.query("create table orders (id text primary key)");
  dataSource = new DataSource({
    type: "postgres",
    url: database.url,
    entities: [orders],
    poolErrorHandler() {},
    extra: { max: 1 },
  });
  await dataSource.initialize();
});
afterAll(() => dataSource.destroy());

const ids = async (): Promise<string[]> => (await dataSource.manager.find(orders, { order: { id: "asc" } })).map(({ id }) => id);

describe("typeormDatabase", () => {
  test("commits nothing, and gives a clean connection back, when a nested transaction was left open", async () => {
    for (let n = 0; n < 5; n++) {
      const leaving = typeormDatabase(dataSource).transaction(async (manager) => {
        await manager.insert(orders, { id: `left open ${n}` });
        await manager.queryRunner?.startTransaction();
        if (n % 2 === 0) throw new Error("no stock");
      });
      await expect(leaving).rejects.toThrow(n % 2 === 0 ? "no stock" : "A nested transaction was begun and not ended");
    }
    expect(await ids()).toEqual([]);
    expect(
      (await database.pool.query("select from pg_stat_activity where state like 'idle in transaction%' and datname = current_database()"))
        .rowCount,
    ).toBe(0);
  });

  test("rejects with the callback's error when the connection is lost, too, and takes another one", async () => {
    const thrown = new Error("no stock");
    const transaction = typeormDatabase(dataSource).transaction(async (_manager, executor) => {
      await executor.execute({ sql: "select pg_terminate_backend(pg_backend_pid())", parameters: [] }).catch(() => {});
      throw thrown;
    });
    expect(await transaction.catch((error: unknown) => error)).toBe(thrown);
    expect(await ids()).toEqual([]);
  });

  test.each([undefined, null, {}, "postgres://localhost"])("refuses what is no DataSource: %s", (value) => {
    expect(() => typeormDatabase(value as DataSource)).toThrow(expect.objectContaining({ name: "QueueError", code: "INVALID_OPTION" }));
  });
});
