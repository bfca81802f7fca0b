import { EntityCaseNamingStrategy, type EntityManager, MikroORM } from "@mikro-orm/postgresql";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createQueue, job, QueueError } from "@queue/core";
import { sqlStateOf } from "@queue/core/adapter";
import { fromMikroOrm, mikroOrmDatabase } from "@queue/mikro-orm";
import { useTestDatabase } from "@queue/test-database";
import { orders } from "./orders.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { note: job<{ n: number }>() } });
const numbers = async (): Promise<number[]> =>
  (await queue.admin(mikroOrmDatabase(orm)).jobs()).items.map(({ payload }) => (payload as { n: number }).n);
/** What libraries are known to take for placeholders, escapes or JSON of their own. */
const awkward = `$1 $2 ? ?? \\? :name %s ' " \\ {"a":[1,2]} {1,2} [1]`;
let orm: MikroORM;

beforeAll(async () => {
  orm = await MikroORM.init({
    clientUrl: database.url,
    entities: [orders],
    namingStrategy: EntityCaseNamingStrategy,
    forceUtcTimezone: true,
  });
  await database.pool.query("create table orders (id text primary key)");
});
afterAll(() => orm.close());

describe("fromMikroOrm", () => {
  test("writes a job in the transaction, which takes it along", async () => {
    await orm.em.fork().transactional(async (em) => {
      em.persist(em.create(orders, { id: "a" }));
      const result = await queue.enqueue(fromMikroOrm(em), "note", { n: 1 });
      expect(result).toEqual({ id: expect.stringMatching(/^\d+$/), inserted: true });
    });
    const failing = orm.em.fork().transactional(async (em) => {
      await queue.enqueue(fromMikroOrm(em), "note", { n: 2 });
      em.persist(em.create(orders, { id: "a" }));
    });
    await expect(failing).rejects.toMatchObject({ code: "23505" });
    expect(await numbers()).toEqual([1]);
  });

  test("writes a job in a nested transaction, which goes when that is rolled back", async () => {
    await orm.em.fork().transactional(async (em) => {
      await em.transactional((inner) => queue.enqueue(fromMikroOrm(inner), "note", { n: 3 }));
      const failing = em.transactional(async (inner) => {
        await queue.enqueue(fromMikroOrm(inner), "note", { n: 4 });
        throw new Error("no stock");
      });
      await expect(failing).rejects.toThrow("no stock");
      await queue.enqueue(fromMikroOrm(em), "note", { n: 5 });
    });
    expect(await numbers()).toEqual([5, 3, 1]);
  });

  test("finds the transaction that the global EntityManager is in, as MikroORM does", async () => {
    await orm.em.fork().transactional(async () => {
      await queue.enqueue(fromMikroOrm(orm.em), "note", { n: 6 });
    });
    expect(await numbers()).toEqual([6, 5, 3, 1]);
  });

  test("takes an EntityManager that has begun, and refuses it before and after", async () => {
    const em = orm.em.fork();
    expect(
      QueueError.is(
        thrownBy(() => fromMikroOrm(em)),
        "INVALID_OPTION",
      ),
    ).toBe(true);
    await em.begin();
    const executor = fromMikroOrm(em);
    await em.rollback();
    const late = queue.enqueue(executor, "note", { n: 7 });
    await expect(late).rejects.toMatchObject({ code: "INVALID_OPTION", message: expect.stringContaining("has ended") });
    expect(await numbers()).not.toContain(7);
  });

  test("passes texts through as they are, also what MikroORM takes for a parameter", async () => {
    await orm.em.fork().transactional(async (em) => {
      const { rows } = await fromMikroOrm(em).execute({
        sql: `select $1::text as "camelCase", '? ?? \\?'::text as literal, $2::text::jsonb::text as json, $3::text::int[]::text as list, $1::text as again`,
        parameters: Object.freeze([awkward, JSON.stringify([awkward]), "{1,2}"]),
      });
      expect(rows).toEqual([{ camelCase: awkward, literal: "? ?? \\?", json: JSON.stringify([awkward]), list: "{1,2}", again: awkward }]);
    });
  });

  test.each(["22012", "23505", "40001", "40P01", "42P01", "3F000", "P0001", "QU000"])(
    "leaves SQLSTATE %s where the queue finds it, through the executor and through MikroORM",
    async (state) => {
      const sql = `do $$ begin raise 'no' using errcode = '${state}'; end $$`;
      const failing = [(em: EntityManager) => fromMikroOrm(em).execute({ sql, parameters: [] }), (em: EntityManager) => em.execute(sql)];
      for (const body of failing) {
        const error: unknown = await orm.em
          .fork()
          .transactional<unknown>(body)
          .catch((reason: unknown) => reason);
        expect(sqlStateOf(error)).toBe(state);
      }
    },
  );

  test("names one scope for all transactions of a database, whose tables need no second look", async () => {
    const scopes = [1, 2].map(() => orm.em.fork().transactional(async (em) => fromMikroOrm(em).scope));
    expect(new Set([...(await Promise.all(scopes)), mikroOrmDatabase(orm).scope]).size).toBe(1);
  });

  test("refuses an EntityManager without a transaction, because the job would be committed on its own", () => {
    const error = thrownBy(() => fromMikroOrm(orm.em.fork()));
    expect(QueueError.is(error, "INVALID_OPTION")).toBe(true);
    expect(String(error)).toContain("would not be in yours");
    expect(String(error)).toContain("em.transactional(async (em) => …)");
  });

  test.each([
    ["nothing", undefined, "undefined"],
    ["null", null, "null"],
    ["a connection string", "postgres://localhost", '"postgres://localhost"'],
    ["a promise", Promise.resolve(), "an await is missing"],
    ["any object", {}, "an object"],
    ["a transaction of another driver", { getTransactionContext: () => ({}) }, "another driver"],
  ])("refuses %s", (_name, value, part) => {
    const error = thrownBy(() => fromMikroOrm(value as unknown as EntityManager));
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
