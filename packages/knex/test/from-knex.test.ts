import { knex as createKnex, type Knex } from "knex";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createQueue, job, QueueError } from "@queue/core";
import { sqlStateOf } from "@queue/core/adapter";
import { fromKnex, knexDatabase } from "@queue/knex";
import { useTestDatabase } from "@queue/test-database";

const database = useTestDatabase();
const queue = createQueue({ jobs: { note: job<{ n: number }>() } });
const numbers = async (): Promise<number[]> =>
  (await queue.admin(knexDatabase(knex)).jobs()).items.map(({ payload }) => (payload as { n: number }).n);
/** What libraries are known to take for placeholders, escapes or JSON of their own. */
const awkward = `$1 $2 ? ?? \\? :name %s ' " \\ {"a":[1,2]} {1,2} [1]`;
let knex: Knex;

/** Bigints as numbers, JSON and times as texts: what applications choose. */
function getTypeParser(oid: number): (value: string) => unknown {
  const { INT8, JSON: json, JSONB, DATE, TIMESTAMP, TIMESTAMPTZ } = pg.types.builtins;
  if ([INT8].includes(oid)) return Number;
  return [json, JSONB, DATE, TIMESTAMP, TIMESTAMPTZ].includes(oid) ? String : pg.types.getTypeParser(oid);
}

beforeAll(async () => {
  // With all that an application may change.
  knex = createKnex({
    client: "pg",
    connection: { connectionString: database.url, types: { getTypeParser } },
    wrapIdentifier: (value, wrap) => wrap(value.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)),
    postProcessResponse: () => {
      throw new Error("A response of the queue's went through postProcessResponse.");
    },
    pool: { min: 0, max: 4 },
  });
  await database.pool.query("create table orders (id text primary key)");
});
afterAll(() => knex.destroy());

describe("fromKnex", () => {
  test("writes a job in the transaction, which takes it along", async () => {
    await knex.transaction(async (trx) => {
      const result = await queue.enqueue(fromKnex(trx), "note", { n: 1 });
      expect(result).toEqual({ id: expect.stringMatching(/^\d+$/), inserted: true });
    });
    const trx = await knex.transaction();
    await queue.enqueue(fromKnex(trx), "note", { n: 2 });
    await trx.rollback();
    expect(await numbers()).toEqual([1]);
  });

  test("writes a job in a savepoint of Knex, which goes when that is rolled back", async () => {
    await knex.transaction(async (trx) => {
      await trx.transaction((inner) => queue.enqueue(fromKnex(inner), "note", { n: 3 }));
      const failing = trx.transaction(async (inner) => {
        await queue.enqueue(fromKnex(inner), "note", { n: 4 });
        throw new Error("no stock");
      });
      await expect(failing).rejects.toThrow("no stock");
      await queue.enqueue(fromKnex(trx), "note", { n: 5 });
    });
    expect(await numbers()).toEqual([5, 3, 1]);
  });

  test("passes texts through as they are, also what Knex takes for a binding", async () => {
    await knex.transaction(async (trx) => {
      const { rows } = await fromKnex(trx).execute({
        sql: `select $1::text as "camelCase", '? ?? \\?'::text as literal, $2::text::jsonb::text as json, $3::text::int[]::text as list, $1::text as again`,
        parameters: Object.freeze([awkward, JSON.stringify([awkward]), "{1,2}"]),
      });
      expect(rows).toEqual([
        {
          camelCase: awkward,
          literal: "? ?? \\?",
          json: JSON.stringify([awkward]),
          list: "{1,2}",
          again: awkward,
        },
      ]);
    });
  });

  test.each(["22012", "23505", "40001", "40P01", "42P01", "3F000", "P0001", "QU000"])(
    "leaves SQLSTATE %s where the queue finds it",
    async (state) => {
      const failing = knex.transaction((trx) =>
        fromKnex(trx).execute({ sql: `do $$ begin raise 'no' using errcode = '${state}'; end $$`, parameters: [] }),
      );
      expect(sqlStateOf(await failing.catch((error: unknown) => error))).toBe(state);
    },
  );

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
    expect(await numbers()).not.toContain(6);
  });

  test("refuses a Knex without a transaction, because the job would be committed on its own", () => {
    const error = thrownBy(() => fromKnex(knex as unknown as Knex.Transaction));
    expect(QueueError.is(error, "INVALID_OPTION")).toBe(true);
    expect(String(error)).toContain("would not be in your transaction");
    expect(String(error)).toContain("knex.transaction(async (trx) => …)");
  });

  test.each([
    ["nothing", undefined, "undefined"],
    ["null", null, "null"],
    ["a connection string", "postgres://localhost", '"postgres://localhost"'],
    ["a promise", Promise.resolve(), "an await is missing"],
    ["any object", {}, "an object"],
  ])("refuses %s", (_name, value, part) => {
    const error = thrownBy(() => fromKnex(value as unknown as Knex.Transaction));
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
