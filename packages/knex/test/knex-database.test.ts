import { knex as createKnex, type Knex } from "knex";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { QueueError } from "@queue/core";
import { knexDatabase } from "@queue/knex";
import { useTestDatabase } from "@queue/test-database";

const database = useTestDatabase({ template: "empty" });
let knex: Knex;

beforeAll(async () => {
  await database.pool.query("create table orders (id text primary key deferrable initially deferred)");
  const options = "-c default_transaction_read_only=on -c default_transaction_isolation=serializable";
  // Knex writes to the console that a connection was lost.
  const log = { warn() {}, error() {}, debug() {}, deprecate() {} };
  knex = createKnex({ client: "pg", connection: { connectionString: database.url, options }, pool: { min: 0, max: 2 }, log });
});
afterAll(() => knex.destroy());

const orders = async (): Promise<string[]> => (await knex("orders").select("id").orderBy("id")).map(({ id }: { id: string }) => id);

describe("knexDatabase", () => {
  test("begins transactions at READ COMMITTED that may write, whatever the defaults, and commits what Knex and the executor wrote", async () => {
    const seen = await knexDatabase(knex).transaction(async (trx, executor) => {
      await trx("orders").insert({ id: "a" });
      await executor.execute({ sql: "insert into orders values ($1::text)", parameters: ["b"] });
      const { rows } = await trx.raw<{ rows: unknown[] }>("select current_setting('transaction_isolation') as level");
      return rows;
    });
    expect(seen).toEqual([{ level: "read committed" }]);
    expect(await orders()).toEqual(["a", "b"]);
  });

  test.each([
    ["an error", new Error("no stock")],
    ["a text", "no stock"],
    ["nothing", undefined],
  ])("rejects with what its callback rejected with: %s", async (_name, thrown) => {
    const transaction = knexDatabase(knex).transaction(async (trx) => {
      await trx("orders").insert({ id: "lost" });
      throw thrown;
    });
    expect(
      await transaction.then(
        () => "resolved",
        (error: unknown) => ({ error }),
      ),
    ).toEqual({ error: thrown });
    expect(await orders()).not.toContain("lost");
  });

  test("rejects with the callback's error when the connection is lost, too", async () => {
    const thrown = new Error("no stock");
    const transaction = knexDatabase(knex).transaction(async (_trx, executor) => {
      await executor.execute({ sql: "select pg_terminate_backend(pg_backend_pid())", parameters: [] }).catch(() => {});
      throw thrown;
    });
    expect(await transaction.catch((error: unknown) => error)).toBe(thrown);
    expect(await orders()).toEqual(["a", "b"]);
  });

  test("rejects when the commit fails", async () => {
    const transaction = knexDatabase(knex).transaction(async (trx) => void (await trx("orders").insert({ id: "a" })));
    await expect(transaction).rejects.toMatchObject({ code: "23505" });
  });

  test("gives its two connections back after fifty failures of each sort", async () => {
    const db = knexDatabase(knex);
    const failing = { sql: "select 1 / 0", parameters: [] };
    const failures = await Promise.allSettled(
      Array.from({ length: 50 }, () => [
        db.execute(failing),
        db.transaction((_trx, executor) => executor.execute(failing)),
        db.transaction(async (trx) => void (await trx("orders").insert({ id: "a" }))),
        db.transaction(async () => {
          throw new Error("no stock");
        }),
      ]).flat(),
    );
    expect(new Set(failures.map(({ status }) => status))).toEqual(new Set(["rejected"]));
    const both = await Promise.all(
      [1, 2].map(() => db.transaction((_trx, executor) => executor.execute({ sql: "select 1 as ok", parameters: [] }))),
    );
    expect(both.map(({ rows }) => rows)).toEqual([[{ ok: 1 }], [{ ok: 1 }]]);
  });

  test("refuses a transaction, and what is no Knex", async () => {
    const trx = await knex.transaction();
    for (const value of [trx, undefined, null, {}, "postgres://localhost"])
      expect(
        QueueError.is(
          thrownBy(() => knexDatabase(value as Knex)),
          "INVALID_OPTION",
        ),
      ).toBe(true);
    await trx.rollback();
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
