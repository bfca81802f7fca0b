import { type EntityManager, MikroORM } from "@mikro-orm/postgresql";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createQueue, job } from "@queue/core";
import { sqlStateOf } from "@queue/core/adapter";
import { fromMikroOrm, mikroOrmDatabase } from "@queue/mikro-orm";
import { useTestDatabase } from "@queue/test-database";
import { orders } from "./orders.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { note: job<{ n: number }>() } });
const numbers = async (): Promise<number[]> =>
  (await queue.admin(mikroOrmDatabase(orm)).jobs()).items.map(({ payload }) => (payload as { n: number }).n);
let orm: MikroORM;

beforeAll(async () => {
  orm = await MikroORM.init({ clientUrl: database.url, entities: [orders] });
  await database.pool.query("create table orders (id text primary key)");
});
afterAll(() => orm.close());

describe("fromMikroOrm", () => {
  test("writes a job in the transaction that the unit of work is written in, and loses both together", async () => {
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

  test("finds the transaction that the global EntityManager is in, as MikroORM does", async () => {
    await orm.em.fork().transactional(async () => {
      await queue.enqueue(fromMikroOrm(orm.em), "note", { n: 6 });
    });
    expect(await numbers()).toEqual([6, 1]);
  });

  test("takes an EntityManager that has begun, and refuses it before and after", async () => {
    const em = orm.em.fork();
    expect(() => fromMikroOrm(em)).toThrow(expect.objectContaining({ name: "QueueError", code: "INVALID_OPTION" }));
    await em.begin();
    const executor = fromMikroOrm(em);
    await em.rollback();
    const late = queue.enqueue(executor, "note", { n: 7 });
    await expect(late).rejects.toMatchObject({ code: "INVALID_OPTION", message: expect.stringContaining("has ended") });
    expect(await numbers()).not.toContain(7);
  });

  test.each(["23505", "40001"])("finds SQLSTATE %s also in the errors of MikroORM itself", async (state) => {
    const failing = orm.em.fork().transactional((em) => em.execute(`do $$ begin raise 'no' using errcode = '${state}'; end $$`));
    expect(sqlStateOf(await failing.catch((error: unknown) => error))).toBe(state);
  });

  test("names one scope for all transactions of a database, whose tables need no second look", async () => {
    const scopes = [1, 2].map(() => orm.em.fork().transactional(async (em) => fromMikroOrm(em).scope));
    expect(new Set([...(await Promise.all(scopes)), mikroOrmDatabase(orm).scope]).size).toBe(1);
  });

  test.each<[name: string, em: () => unknown, part: string]>([
    [
      "an EntityManager without a transaction",
      () => orm.em.fork(),
      "would not be in yours. Give it the em of `em.transactional(async (em) => …)`",
    ],
    ["a transaction of another driver", () => ({ getTransactionContext: () => ({}) }), "another driver"],
  ])("refuses %s", (_name, em, part) => {
    expect(() => fromMikroOrm(em() as EntityManager)).toThrow(
      expect.objectContaining({ name: "QueueError", code: "INVALID_OPTION", message: expect.stringContaining(part) }),
    );
  });
});
