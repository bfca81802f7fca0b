import { describe, expect, test } from "vitest";
import { thrownBy } from "../../test/support/thrown-by.js";
import { checkSchemaName } from "./schema-name.js";

describe("the name of a schema (B103)", () => {
  test.each([
    "queue",
    "my-schema",
    "My.Schema",
    "user",
    "1q",
    'a"b',
    "o'brien",
    "a$$b",
    "a\\b",
    "sch\u00e9ma",
    "a\nb",
    " ",
    "s".repeat(63),
    "\u03b1".repeat(31),
  ])("%j is allowed", (name) => {
    expect(checkSchemaName(name)).toBe(name);
  });

  test.each([
    ["empty", ""],
    ["64 bytes", "s".repeat(64)],
    ["64 bytes in 32 characters", "\u03b1".repeat(32)],
    ["with NUL", "a\u0000b"],
    ["with half of a surrogate pair", "a\uD800"],
    ["PostgreSQL's own", "pg_queue"],
    ["null", null],
    ["a number", 5],
    ["an object", {}],
  ])("one that is %s is refused", (_name, name) => {
    const error = thrownBy(() => checkSchemaName(name));
    expect(error).toMatchObject({ code: "INVALID_OPTION", option: "schema" });
    expect(error.message).toMatch(/^schema must /);
  });
});
