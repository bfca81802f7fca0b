import { knex as createKnex, type Knex } from "knex";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createQueue, job } from "@queue/core";
import { fromKnex, knexDatabase } from "@queue/knex";
import { useTestDatabase } from "@queue/test-database";

const database = useTestDatabase();
const queue = createQueue({ jobs: { note: job<{ n: number }>() } });
let knex: Knex;

beforeAll(() => {
  knex = createKnex({ client: "pg", connection: database.url, pool: { min: 0, max: 4 } });
});
afterAll(() => knex.destroy());

describe("fromKnex", () => {
  test("names one scope for all transactions of a database, whose tables need no second look", async () => {
    const scopes = [1, 2].map(() => knex.transaction(async (trx) => fromKnex(trx).scope));
    expect(new Set([...(await Promise.all(scopes)), knexDatabase(knex).scope]).size).toBe(1);
  });

  test("refuses a transaction that has ended, whose connection is somebody else's by now", async () => {
    const trx = await knex.transaction();
    const executor = fromKnex(trx);
    await trx.commit();
    const late = queue.enqueue(executor, "note", { n: 6 });
    await expect(late).rejects.toMatchObject({ code: "INVALID_OPTION", message: expect.stringContaining("has ended") });
    expect((await queue.admin(knexDatabase(knex)).jobs()).items).toEqual([]);
  });

  test.each(["would not be in your transaction", "knex.transaction(async (trx) => …)"])(
    "refuses a Knex without a transaction, and says: %s",
    (part) => {
      expect(() => fromKnex(knex as unknown as Knex.Transaction)).toThrow(
        expect.objectContaining({ name: "QueueError", code: "INVALID_OPTION", message: expect.stringContaining(part) }),
      );
    },
  );
});
