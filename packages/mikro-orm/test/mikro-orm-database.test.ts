import { IsolationLevel } from "@mikro-orm/core";
import { MikroORM } from "@mikro-orm/postgresql";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mikroOrmDatabase } from "@queue/mikro-orm";
import { useTestDatabase } from "@queue/test-database";
import { orders } from "./orders.js";

const database = useTestDatabase({ template: "empty" });
let orm: MikroORM;

beforeAll(async () => {
  await database.pool.query("create table orders (id text primary key)");
  // Knex writes to the console that a connection was lost.
  const log = { warn() {}, error() {}, debug() {}, deprecate() {} };
  orm = await MikroORM.init({
    clientUrl: database.url,
    entities: [orders],
    pool: { min: 0, max: 2 },
    driverOptions: { log },
  });
});
afterAll(() => orm.close());

const ids = async (): Promise<string[]> => (await orm.em.fork().findAll(orders, { orderBy: { id: "asc" } })).map(({ id }) => id);

describe("mikroOrmDatabase", () => {
  test("commits what is left in the unit of work, and what the executor wrote", async () => {
    await mikroOrmDatabase(orm).transaction(async (em, executor) => {
      em.persist(em.create(orders, { id: "a" }));
      await executor.execute({ sql: "insert into orders values ($1::text)", parameters: ["b"] });
    });
    expect(await ids()).toEqual(["a", "b"]);
  });

  test("has the unit of work flushed before the statements of the executor, of which the completion is the last", async () => {
    const seen = mikroOrmDatabase(orm).transaction(async (em, executor) => {
      em.persist(em.create(orders, { id: "flushed" }));
      const { rows } = await executor.execute({ sql: "select id from orders where id = $1::text", parameters: ["flushed"] });
      throw Object.assign(new Error("seen"), { rows });
    });
    await expect(seen).rejects.toMatchObject({ rows: [{ id: "flushed" }] });
  });

  test("is a transaction of its own, also when a transaction of the application is open around it", async () => {
    const em = orm.em.fork();
    await expect(
      em.transactional(
        async () => {
          await mikroOrmDatabase(orm).transaction(async (inner) => void inner.persist(inner.create(orders, { id: "c" })));
          throw new Error("the outer one");
        },
        { isolationLevel: IsolationLevel.READ_COMMITTED },
      ),
    ).rejects.toThrow("the outer one");
    expect(await ids()).toEqual(["a", "b", "c"]);
  });

  test("rejects with the callback's error when the connection is lost, too", async () => {
    const thrown = new Error("no stock");
    const transaction = mikroOrmDatabase(orm).transaction(async (_em, executor) => {
      await executor.execute({ sql: "select pg_terminate_backend(pg_backend_pid())", parameters: [] }).catch(() => {});
      throw thrown;
    });
    expect(await transaction.catch((error: unknown) => error)).toBe(thrown);
    expect(await ids()).toEqual(["a", "b", "c"]);
  });

  test("rejects when what is left in the unit of work cannot be written", async () => {
    const transaction = mikroOrmDatabase(orm).transaction(async (em) => void em.persist(em.create(orders, { id: "a" })));
    await expect(transaction).rejects.toMatchObject({ code: "23505" });
  });

  test.each([undefined, null, {}, { em: { getConnection: () => ({}) } }, "postgres://localhost"])(
    "refuses what is no MikroORM: %s",
    (value) => {
      expect(() => mikroOrmDatabase(value as unknown as MikroORM)).toThrow(
        expect.objectContaining({ name: "QueueError", code: "INVALID_OPTION" }),
      );
    },
  );
});
