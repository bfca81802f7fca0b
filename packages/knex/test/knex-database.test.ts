import { knex as createKnex, type Knex } from "knex";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { knexDatabase } from "@queue/knex";
import { useTestDatabase } from "@queue/test-database";

const database = useTestDatabase({ template: "empty" });
let knex: Knex;

beforeAll(() => {
  // Knex writes to the console that a connection was lost.
  const log = { warn() {}, error() {}, debug() {}, deprecate() {} };
  knex = createKnex({ client: "pg", connection: database.url, pool: { min: 0, max: 1 }, log });
});
afterAll(() => knex.destroy());

describe("knexDatabase", () => {
  test("rejects with the callback's error when the connection is lost, too, and takes another one", async () => {
    const thrown = new Error("no stock");
    const transaction = knexDatabase(knex).transaction(async (_trx, executor) => {
      await executor.execute({ sql: "select pg_terminate_backend(pg_backend_pid())", parameters: [] }).catch(() => {});
      throw thrown;
    });
    expect(await transaction.catch((error: unknown) => error)).toBe(thrown);
    expect((await knexDatabase(knex).execute({ sql: "select 1 as one", parameters: [] })).rows).toEqual([{ one: 1 }]);
  });

  test("refuses a transaction, and what is no Knex", async () => {
    const trx = await knex.transaction();
    for (const value of [trx, undefined, null, {}, "postgres://localhost"])
      expect(() => knexDatabase(value as Knex)).toThrow(expect.objectContaining({ name: "QueueError", code: "INVALID_OPTION" }));
    await trx.rollback();
  });
});
