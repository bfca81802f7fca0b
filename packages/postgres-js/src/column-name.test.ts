import postgres from "postgres";
import { expect, test } from "vitest";
import { columnName } from "./column-name.js";

const sql = `select "j"."id", j.max_attempts, count(*) as oldest_ready_ms from "maxAttempts"."jobs" as "j"`;

test.each([
  ["postgres.camel", postgres.toCamel],
  ["postgres.pascal", postgres.toPascal],
  ["postgres.kebab", postgres.toKebab],
  ["no transform", (name: string) => name],
])("%s is undone", (_name, transform) => {
  for (const name of ["id", "max_attempts", "oldest_ready_ms"]) expect(columnName(transform(name), sql)).toBe(name);
});

test("a name that the statement has stays, and so does one that nothing in it explains", () => {
  expect(columnName("maxAttempts", `select max_attempts as "maxAttempts"`)).toBe("maxAttempts");
  expect(columnName("somethingElse", sql)).toBe("somethingElse");
});
