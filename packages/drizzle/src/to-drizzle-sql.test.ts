import { PgDialect } from "drizzle-orm/pg-core";
import { describe, expect, test } from "vitest";
import { toDrizzleSql } from "./to-drizzle-sql.js";

const compile = (sql: string, parameters: readonly unknown[]) => {
  const { sql: text, params } = new PgDialect().sqlToQuery(toDrizzleSql({ sql, parameters }));
  return { text, params };
};

describe("toDrizzleSql", () => {
  test("leaves the text as it is, and the parameters where they were", () => {
    const sql = "select $1::text, $2::int, $3::text where a = $4::text::jsonb";
    expect(compile(sql, ["a", "1", null, '{"?": "$1"}'])).toEqual({ text: sql, params: ["a", "1", null, '{"?": "$1"}'] });
  });

  test("numbers a parameter anew that comes twice or out of order", () => {
    expect(compile("select $2::text, $1::text, $2::text", ["a", "b"])).toEqual({
      text: "select $1::text, $2::text, $3::text",
      params: ["b", "a", "b"],
    });
  });

  test("takes ten parameters and more for what they are", () => {
    const names = Array.from({ length: 12 }, (_, index) => `$${index + 1}::text`).join(", ");
    const values = Array.from({ length: 12 }, (_, index) => String(index));
    expect(compile(`select ${names}`, values)).toEqual({ text: `select ${names}`, params: values });
  });

  test.each([
    ["a text", "'$1 it''s $2'"],
    ["an escape text", String.raw`E'it\'s $1 \\'`],
    ["a quoted name", '"a $1 ""b"" $2"'],
    ["a body", "$$ select $1 $$"],
    ["a body with a tag", "$body$ select $1; '$$' $body$"],
    ["a comment to the end of the line", "1 -- $1 it's\n"],
    ["a comment", "1 /* $1 it's */"],
    ["question marks", `'{"?": 1}'::jsonb ? '?'`],
  ])("finds no parameter in %s", (_name, piece) => {
    expect(compile(`select ${piece}, $1::text`, ["v"])).toEqual({ text: `select ${piece}, $1::text`, params: ["v"] });
  });
});
