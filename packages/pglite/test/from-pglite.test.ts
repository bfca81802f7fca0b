import { afterAll, beforeAll, expect, test } from "vitest";
import { fromPglite, type OpenPglite, openPglite } from "@queue/pglite";

let database: OpenPglite<unknown>;

beforeAll(async () => {
  database = await openPglite<unknown>();
});
afterAll(() => database.close());

test("runs statements in PGlite's own transaction", async () => {
  await database.pglite.transaction(async (tx) => {
    await fromPglite(tx).execute({ sql: "create table written (id int)", parameters: [] });
    await tx.rollback();
  });
  const { rows } = await fromPglite(database.pglite).execute({ sql: "select to_regclass('written')::text as found", parameters: [] });
  expect(rows).toEqual([{ found: null }]);
});

test("binds texts, numbers and null", async () => {
  const { rows } = await fromPglite(database.pglite).execute({
    sql: "select $1::text as text, $2::int as int, $3::text as nothing, $4::text::jsonb ->> 0 as json, $5::text::bool as bool",
    parameters: Object.freeze(["a", 1, null, '["[1]"]', "true"]),
  });
  expect(rows).toEqual([{ text: "a", int: 1, nothing: null, json: "[1]", bool: true }]);
});

test("passes the error of PostgreSQL on as it is", async () => {
  await expect(fromPglite(database.pglite).execute({ sql: "select 1 / 0", parameters: [] })).rejects.toMatchObject({ code: "22012" });
});

test.each([undefined, null, {}, "memory://", Promise.resolve()])("refuses what is neither a transaction nor a PGlite: %s", (value) => {
  expect(() => fromPglite(value as never)).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
});
