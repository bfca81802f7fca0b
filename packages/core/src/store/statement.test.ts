import fc from "fast-check";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { queryBuilder } from "./query-builder.js";
import { defineStatement, placeholders, runStatement, toArrayLiteral } from "./statement.js";
import { toDate } from "./sql-time.js";

interface Input {
  readonly id: string;
  readonly limit: number;
  readonly isApplied: boolean;
  readonly note: string | null;
}

function example() {
  const p = placeholders<Input>();
  return defineStatement<Input, { id: string }>(
    queryBuilder('my "schema"')
      .selectFrom("jobs as j")
      .select(sql<string>`j.id::text`.as("id"))
      .where("j.id", "=", p.bigint("id"))
      .where(sql<boolean>`${p.boolean("isApplied")} and (${p.text("note")} is null or j.id <> ${p.bigint("id")})`)
      .limit(p.int("limit")),
  );
}

describe("a statement", () => {
  test("is compiled once; its placeholders are filled in their order at each run, as texts or null", () => {
    const statement = example();
    expect(statement.sql).toBe(
      'select j.id::text as "id" from "my ""schema"""."jobs" as "j" where "j"."id" = $1::text::int8' +
        " and $2::text::bool and ($3::text is null or j.id <> $4::text::int8) limit $5::int",
    );
    expect(statement.bind({ id: "9007199254740993", limit: 5, isApplied: false, note: null })).toEqual([
      "9007199254740993",
      "false",
      null,
      "9007199254740993",
      "5",
    ]);
    expect(statement.bind({ id: "1", limit: 1, isApplied: true, note: "" })).toEqual(["1", "true", "", "1", "1"]);
    expect(Object.isFrozen(statement)).toBe(true);
  });

  test("runs through the port, and gives the rows as they come", async () => {
    const seen: unknown[] = [];
    const rows = await runStatement(
      {
        adapter: "own",
        execute: <R>(query: unknown) => {
          seen.push(query);
          return Promise.resolve({ rows: [{ id: "1" }] as R[] });
        },
      },
      example(),
      { id: "1", limit: 2, isApplied: true, note: "n" },
    );
    expect(rows).toEqual([{ id: "1" }]);
    expect(seen).toEqual([{ sql: example().sql, parameters: ["1", "true", "n", "1", "2"] }]);
  });
});

describe("an array literal", () => {
  test.each<[values: string[], literal: string]>([
    [[], "{}"],
    [["a"], '{"a"}'],
    [["a", "b,c", "{d}"], '{"a","b,c","{d}"}'],
    [['say "hi"', "back\\slash"], String.raw`{"say \"hi\"","back\\slash"}`],
    [["", "null", "NULL", " "], '{"","null","NULL"," "}'],
  ])("of %j is %s", (values, literal) => {
    expect(toArrayLiteral(values)).toBe(literal);
  });

  test("reads back as it was, by the rules of PostgreSQL", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" })), (values) => {
        const inner = toArrayLiteral(values).slice(1, -1);
        const read = [...inner.matchAll(/"((?:[^"\\]|\\[^])*)"(?:,|$)/g)].map(([, quoted = ""]) => quoted.replaceAll(/\\([^])/g, "$1"));
        expect(read).toEqual(values);
      }),
    );
  });
});

test("microseconds as text become the millisecond that they are in, also before 1970", () => {
  expect(toDate("1767225600123456")).toEqual(new Date(1_767_225_600_123));
  expect(toDate("1767225600123999")).toEqual(new Date(1_767_225_600_123));
  expect(toDate("0")).toEqual(new Date(0));
  expect(toDate("-1")).toEqual(new Date(-1));
});
