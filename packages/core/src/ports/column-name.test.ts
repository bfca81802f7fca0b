import { expect, test } from "vitest";
import { columnName } from "./column-name.js";

const sql = `select "j"."id", j.max_attempts, count(*) as oldest_ready_ms from "maxAttempts"."jobs" as "j"`;

test.each([
  ["postgres.camel", ["id", "maxAttempts", "oldestReadyMs"]],
  ["postgres.pascal", ["Id", "MaxAttempts", "OldestReadyMs"]],
  ["postgres.kebab", ["id", "max-attempts", "oldest-ready-ms"]],
  ["no transform", ["id", "max_attempts", "oldest_ready_ms"]],
])("%s is undone", (_name, transformed) => {
  expect(transformed.map((name) => columnName(name, sql))).toEqual(["id", "max_attempts", "oldest_ready_ms"]);
});

test("a name that the statement has stays, and so does one that nothing in it explains", () => {
  expect(columnName("maxAttempts", `select max_attempts as "maxAttempts"`)).toBe("maxAttempts");
  expect(columnName("somethingElse", sql)).toBe("somethingElse");
});
