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
  test("answers with what JavaScript holds exactly, and with text else", async () => {
    const { rows } = await sql.begin((trx) =>
      fromPostgresJs(trx).execute({
        sql: `select 9007199254740993::int8 as big, '2026-01-02 03:04:05.678901'::timestamp as at, array[1,2]::int[] as list, '{"a_b":1}'::jsonb as json, true as yes, false as no, 2.5::float8 as float`,
        parameters: [],
      }),
    );
    expect(rows).toEqual([
      { big: "9007199254740993", at: "2026-01-02 03:04:05.678901", list: "{1,2}", json: '{"a_b": 1}', yes: true, no: false, float: 2.5 },
    ]);
  });

  test("takes a reserved connection, on which the caller begins and commits", async () => {
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
  test.each<[name: string, value: () => unknown, part: string]>([
    ["the sql of postgres()", () => sql, "would not be in your transaction"],
    ["any function", () => () => {}, "function"],
  ])("is refused: %s", (_name, value, part) => {
    expect(() => fromPostgresJs(value() as postgres.TransactionSql)).toThrow(
      expect.objectContaining({ name: "QueueError", code: "INVALID_OPTION", message: expect.stringContaining(part) }),
    );
  });
});
