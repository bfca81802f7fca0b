import pg from "pg";
import { DataSource, DefaultNamingStrategy, type EntityManager } from "typeorm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createQueue, job, QueueError } from "@queue/core";
import { sqlStateOf } from "@queue/core/adapter";
import { useTestDatabase } from "@queue/test-database";
import { fromTypeorm, typeormDatabase } from "@queue/typeorm";
import { orders } from "./orders.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { note: job<{ n: number }>() } });
const numbers = async (): Promise<number[]> =>
  (await queue.admin(typeormDatabase(dataSource)).jobs()).items.map(({ payload }) => (payload as { n: number }).n);
/** What libraries are known to take for placeholders, escapes or JSON of their own. */
const awkward = `$1 $2 ? ?? \\? :name %s ' " \\ {"a":[1,2]} {1,2} [1]`;
let dataSource: DataSource;

class CamelCase extends DefaultNamingStrategy {
  override columnName(name: string): string {
    return name.replaceAll(/_[a-z]/g, (part) => part.slice(1).toUpperCase());
  }
}

/** Bigints as numbers, JSON and times as texts: what applications choose. */
function getTypeParser(oid: number): (value: string) => unknown {
  const { INT8, JSON: json, JSONB, DATE, TIMESTAMP, TIMESTAMPTZ } = pg.types.builtins;
  if ([INT8].includes(oid)) return Number;
  return [json, JSONB, DATE, TIMESTAMP, TIMESTAMPTZ].includes(oid) ? String : pg.types.getTypeParser(oid);
}

beforeAll(async () => {
  // With all that an application may change.
  dataSource = await new DataSource({
    type: "postgres",
    url: database.url,
    entities: [orders],
    namingStrategy: new CamelCase(),
    parseInt8: true,
    extra: { types: { getTypeParser } },
  }).initialize();
  await database.pool.query("create table orders (id text primary key)");
});
afterAll(() => dataSource.destroy());

describe("fromTypeorm", () => {
  test("writes a job in the transaction, which takes it along", async () => {
    await dataSource.transaction(async (manager) => {
      const result = await queue.enqueue(fromTypeorm(manager), "note", { n: 1 });
      expect(result).toEqual({ id: expect.stringMatching(/^\d+$/), inserted: true });
      await manager.insert(orders, { id: "a" });
    });
    const failing = dataSource.transaction(async (manager) => {
      await queue.enqueue(fromTypeorm(manager), "note", { n: 2 });
      await manager.insert(orders, { id: "a" });
    });
    await expect(failing).rejects.toMatchObject({ code: "23505" });
    expect(await numbers()).toEqual([1]);
  });

  test("writes a job in a nested transaction, which goes when that is rolled back", async () => {
    await dataSource.transaction(async (manager) => {
      await manager.transaction((inner) => queue.enqueue(fromTypeorm(inner), "note", { n: 3 }));
      const failing = manager.transaction(async (inner) => {
        await queue.enqueue(fromTypeorm(inner), "note", { n: 4 });
        throw new Error("no stock");
      });
      await expect(failing).rejects.toThrow("no stock");
      await queue.enqueue(fromTypeorm(manager), "note", { n: 5 });
    });
    expect(await numbers()).toEqual([5, 3, 1]);
  });

  test("takes the manager of a query runner that has begun, and refuses it before and after", async () => {
    const runner = dataSource.createQueryRunner();
    try {
      expect(
        QueueError.is(
          thrownBy(() => fromTypeorm(runner.manager)),
          "INVALID_OPTION",
        ),
      ).toBe(true);
      await runner.startTransaction();
      const executor = fromTypeorm(runner.manager);
      await queue.enqueue(executor, "note", { n: 6 });
      await runner.rollbackTransaction();
      const late = queue.enqueue(executor, "note", { n: 7 });
      await expect(late).rejects.toMatchObject({ code: "INVALID_OPTION", message: expect.stringContaining("has ended") });
    } finally {
      await runner.release();
    }
    expect(await numbers()).toEqual([5, 3, 1]);
  });

  test("passes texts through as they are, and gives the rows of an update as those of a select", async () => {
    await dataSource.transaction(async (manager) => {
      const executor = fromTypeorm(manager);
      const { rows } = await executor.execute({
        sql: `select $1::text as "camelCase", '? ?? \\?'::text as literal, $2::text::jsonb::text as json, $3::text::int[]::text as list, $1::text as again`,
        parameters: Object.freeze([awkward, JSON.stringify([awkward]), "{1,2}"]),
      });
      expect(rows).toEqual([{ camelCase: awkward, literal: "? ?? \\?", json: JSON.stringify([awkward]), list: "{1,2}", again: awkward }]);
      const updated = await executor.execute({ sql: "update orders set id = $1::text returning id", parameters: ["b"] });
      expect(updated.rows).toEqual([{ id: "b" }]);
    });
  });

  test.each(["22012", "23505", "40001", "40P01", "42P01", "3F000", "P0001", "QU000"])(
    "leaves SQLSTATE %s where the queue finds it",
    async (state) => {
      const failing = dataSource.transaction((manager) =>
        fromTypeorm(manager).execute({ sql: `do $$ begin raise 'no' using errcode = '${state}'; end $$`, parameters: [] }),
      );
      expect(sqlStateOf(await failing.catch((error: unknown) => error))).toBe(state);
    },
  );

  test("names one scope for all transactions of a database, whose tables need no second look", async () => {
    const scopes = [1, 2].map(() => dataSource.transaction(async (manager) => fromTypeorm(manager).scope));
    expect(await Promise.all(scopes)).toEqual([dataSource, dataSource]);
    expect(typeormDatabase(dataSource).scope).toBe(dataSource);
  });

  test("refuses a manager without a transaction, because the job would be committed on its own", () => {
    const error = thrownBy(() => fromTypeorm(dataSource.manager));
    expect(QueueError.is(error, "INVALID_OPTION")).toBe(true);
    expect(String(error)).toContain("would not be in yours");
    expect(String(error)).toContain("dataSource.transaction(async (entityManager) => …)");
  });

  test.each([
    ["nothing", undefined, "undefined"],
    ["null", null, "null"],
    ["a connection string", "postgres://localhost", '"postgres://localhost"'],
    ["a promise", Promise.resolve(), "an await is missing"],
    ["any object", {}, "an object"],
  ])("refuses %s", (_name, value, part) => {
    const error = thrownBy(() => fromTypeorm(value as unknown as EntityManager));
    expect(QueueError.is(error, "INVALID_OPTION")).toBe(true);
    expect(String(error)).toContain(part);
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
