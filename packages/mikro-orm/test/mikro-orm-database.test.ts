import { IsolationLevel } from "@mikro-orm/core";
import { MikroORM } from "@mikro-orm/postgresql";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { QueueError } from "@queue/core";
import { mikroOrmDatabase } from "@queue/mikro-orm";
import { useTestDatabase } from "@queue/test-database";
import { orders } from "./orders.js";

const database = useTestDatabase({ template: "empty" });
let orm: MikroORM;

beforeAll(async () => {
  await database.pool.query("create table orders (id text primary key deferrable initially deferred)");
  const options = "-c default_transaction_read_only=on -c default_transaction_isolation=serializable";
  // Knex writes to the console that a connection was lost.
  const log = { warn() {}, error() {}, debug() {}, deprecate() {} };
  orm = await MikroORM.init({
    clientUrl: database.url,
    entities: [orders],
    pool: { min: 0, max: 2 },
    driverOptions: { connection: { options }, log },
  });
});
afterAll(() => orm.close());

const ids = async (): Promise<string[]> => (await orm.em.fork().findAll(orders, { orderBy: { id: "asc" } })).map(({ id }) => id);

describe("mikroOrmDatabase", () => {
  test("begins transactions at READ COMMITTED that may write, whatever the defaults, and commits what MikroORM and the executor wrote", async () => {
    const seen = await mikroOrmDatabase(orm).transaction(async (em, executor) => {
      em.persist(em.create(orders, { id: "a" }));
      await executor.execute({ sql: "insert into orders values ($1::text)", parameters: ["b"] });
      return em.execute("select current_setting('transaction_isolation') as level");
    });
    expect(seen).toEqual([{ level: "read committed" }]);
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

  test.each([
    ["an error", new Error("no stock")],
    ["a text", "no stock"],
    ["nothing", undefined],
  ])("rejects with what its callback rejected with: %s", async (_name, thrown) => {
    const transaction = mikroOrmDatabase(orm).transaction(async (em) => {
      await em.persistAndFlush(em.create(orders, { id: "lost" }));
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
    const transaction = mikroOrmDatabase(orm).transaction(async (_em, executor) => {
      await executor.execute({ sql: "select pg_terminate_backend(pg_backend_pid())", parameters: [] }).catch(() => {});
      throw thrown;
    });
    expect(await transaction.catch((error: unknown) => error)).toBe(thrown);
    expect(await ids()).toEqual(["a", "b", "c"]);
  });

  test("rejects when the commit fails", async () => {
    const transaction = mikroOrmDatabase(orm).transaction(async (em) => void em.persist(em.create(orders, { id: "a" })));
    await expect(transaction).rejects.toMatchObject({ code: "23505" });
  });

  test("gives its two connections back after fifty failures of each sort", async () => {
    const db = mikroOrmDatabase(orm);
    const failing = { sql: "select 1 / 0", parameters: [] };
    const failures = await Promise.allSettled(
      Array.from({ length: 50 }, () => [
        db.execute(failing),
        db.transaction((_em, executor) => executor.execute(failing)),
        db.transaction(async (em) => void em.persist(em.create(orders, { id: "a" }))),
        db.transaction(async () => {
          throw new Error("no stock");
        }),
      ]).flat(),
    );
    expect(new Set(failures.map(({ status }) => status))).toEqual(new Set(["rejected"]));
    const both = await Promise.all(
      [1, 2].map(() => db.transaction((_em, executor) => executor.execute({ sql: "select 1 as ok", parameters: [] }))),
    );
    expect(both.map(({ rows }) => rows)).toEqual([[{ ok: 1 }], [{ ok: 1 }]]);
  });

  test.each([undefined, null, {}, { em: { getConnection: () => ({}) } }, "postgres://localhost"])(
    "refuses what is no MikroORM: %s",
    (value) => {
      expect(
        QueueError.is(
          thrownBy(() => mikroOrmDatabase(value as unknown as MikroORM)),
          "INVALID_OPTION",
        ),
      ).toBe(true);
    },
  );
});

function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error("It did not throw.");
}
