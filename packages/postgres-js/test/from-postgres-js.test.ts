import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createQueue, job, type JsonValue, QueueError } from "@queue/core";
import { fromPostgresJs, postgresJsDatabase } from "@queue/postgres-js";
import { useTestDatabase } from "@queue/test-database";

const database = useTestDatabase();
const queue = createQueue({ jobs: { note: job<JsonValue>() } });
let sql: postgres.Sql;
beforeAll(() => {
  sql = postgres(database.url, { onnotice: () => {} });
});
afterAll(() => sql.end());

const payloads = async (): Promise<unknown[]> =>
  (await database.pool.query<{ payload: unknown }>("select payload from queue.jobs order by id")).rows.map(({ payload }) => payload);

describe("fromPostgresJs", () => {
  test("binds texts, numbers and null, and leaves what only looks like a placeholder", async () => {
    const { rows } = await sql.begin((trx) =>
      fromPostgresJs(trx).execute({
        sql: `select $1::text as text, $2::int as int, $3::text as nothing, '$1 ?'::text as quoted, ($4::text::jsonb ? '?') as has, 2.5::float8 as float`,
        parameters: Object.freeze(["$2 ?", 1, null, '{"?": "$1"}']),
      }),
    );
    expect(rows).toEqual([{ text: "$2 ?", int: 1, nothing: null, quoted: "$1 ?", has: true, float: 2.5 }]);
  });

  test("answers with what JavaScript holds exactly, and with text else", async () => {
    const { rows } = await sql.begin((trx) =>
      fromPostgresJs(trx).execute({
        sql: `select 9007199254740993::int8 as big, '2026-01-02 03:04:05.678901'::timestamp as at, array[1,2]::int[] as list, '{"a_b":1}'::jsonb as json, true as yes, false as no`,
        parameters: [],
      }),
    );
    expect(rows).toEqual([
      { big: "9007199254740993", at: "2026-01-02 03:04:05.678901", list: "{1,2}", json: '{"a_b": 1}', yes: true, no: false },
    ]);
  });

  test("stores a payload as JSON once, whatever is in it", async () => {
    const hostile: JsonValue[] = [{ price: "$1", sql: "?", nested: { snake_case: ["{1,2}", null] } }, "a text", ["[1]"], 2 ** 53 - 1];
    await sql.begin(async (trx) => {
      for (const payload of hostile) await queue.enqueue(fromPostgresJs(trx), "note", payload);
      await queue.enqueueMany(
        fromPostgresJs(trx),
        hostile.map((payload) => ({ kind: "note", payload })),
      );
    });
    expect(await payloads()).toEqual([...hostile, ...hostile]);
  });

  test("goes with the savepoint that it was made of, and the rest stays", async () => {
    await database.pool.query("delete from queue.jobs");
    await sql.begin(async (trx) => {
      await queue.enqueue(fromPostgresJs(trx), "note", "outer");
      const undone = trx.savepoint(async (inner) => {
        await queue.enqueue(fromPostgresJs(inner), "note", "undone");
        throw new Error("no");
      });
      await expect(undone).rejects.toThrow("no");
      await trx.savepoint((inner) => queue.enqueue(fromPostgresJs(inner), "note", "kept"));
    });
    expect(await payloads()).toEqual(["outer", "kept"]);
  });

  test("takes a reserved connection, on which the caller begins and commits", async () => {
    await database.pool.query("delete from queue.jobs");
    const reserved = await sql.reserve();
    try {
      await reserved`begin`;
      await queue.enqueue(fromPostgresJs(reserved), "note", "undone");
      await reserved`rollback`;
    } finally {
      reserved.release();
    }
    expect(await payloads()).toEqual([]);
  });

  test("is one scope with the others of its postgres(), whose tables need no second look", async () => {
    const scopes = await Promise.all([1, 2].map(() => sql.begin((trx) => [fromPostgresJs(trx).scope])));
    expect(scopes[0]?.[0]).toBeTypeOf("function");
    expect(scopes[0]?.[0]).toBe(scopes[1]?.[0]);
    expect(postgresJsDatabase(sql).scope).toBe(scopes[0]?.[0]);
    const other = postgres(database.url);
    expect(postgresJsDatabase(other).scope).not.toBe(scopes[0]?.[0]);
  });

  test("prepares nothing, so that it works through a pooler in transaction mode", async () => {
    const names = await sql.begin(async (trx) => {
      await fromPostgresJs(trx).execute({ sql: "select $1::text as ours", parameters: ["a"] });
      return trx.unsafe("select name from pg_prepared_statements where statement like '%ours'");
    });
    expect([...names]).toEqual([]);
  });

  test("passes the error of the server on as it is", async () => {
    const failing = sql.begin((trx) => fromPostgresJs(trx).execute({ sql: "select 1 / 0", parameters: [] }));
    await expect(failing).rejects.toMatchObject({ code: "22012" });
  });
});

describe("a transform of postgres()", () => {
  test.each([
    ["camel", postgres.camel],
    ["pascal", postgres.pascal],
    ["kebab", postgres.kebab],
  ])("to %s case changes neither names nor payloads", async (_name, transform) => {
    const transformed = postgres(database.url, { transform, onnotice: () => {} });
    try {
      const db = postgresJsDatabase(transformed);
      const { id } = await queue.enqueue(db, "note", { snake_case: { inner_key: 1 } }, { maxAttempts: 3 });
      expect(await queue.admin(db).job(id)).toMatchObject({ id, payload: { snake_case: { inner_key: 1 } }, maxAttempts: 3, attempts: 0 });
    } finally {
      await transformed.end();
    }
  });

  test.each([
    ["makes objects of them", (row: postgres.Row) => ({ ...row })],
    ["leaves some of them out", (row: postgres.Row) => Object.values(row).slice(1)],
  ])("of whole rows that %s is refused, because it changes ours", async (_name, row) => {
    const transformed = postgres(database.url, { transform: { row }, onnotice: () => {} });
    try {
      const enqueued = queue.enqueue(postgresJsDatabase(transformed), "note", null);
      await expect(enqueued).rejects.toSatisfy((error) => QueueError.is(error, "INVALID_OPTION"));
    } finally {
      await transformed.end();
    }
  });
});

describe("custom types of postgres()", () => {
  test("change nothing", async () => {
    const loud = { to: 16, from: [16, 20, 23, 25], serialize: (value: unknown) => String(value), parse: (text: string) => `<${text}>` };
    const typed = postgres(database.url, { types: { loud }, onnotice: () => {} });
    try {
      const { id, inserted } = await queue.enqueue(postgresJsDatabase(typed), "note", [1], { key: "typed" });
      expect({ id, inserted }).toEqual({ id: expect.stringMatching(/^\d+$/), inserted: true });
    } finally {
      await typed.end();
    }
  });
});

describe("what is no transaction", () => {
  test("is refused when it is the sql of postgres()", () => {
    const error = thrownBy(() => fromPostgresJs(sql as unknown as postgres.TransactionSql));
    expect(QueueError.is(error, "INVALID_OPTION")).toBe(true);
    expect(String(error)).toContain("would not be in your transaction");
  });

  test.each([
    ["nothing", undefined, "undefined"],
    ["null", null, "null"],
    ["a URL", "postgres://localhost", '"postgres://localhost"'],
    ["a promise", Promise.resolve(), "an await is missing"],
    ["any function", () => {}, "function"],
  ])("is refused: %s", (_name, value, part) => {
    const error = thrownBy(() => fromPostgresJs(value as unknown as postgres.TransactionSql));
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
