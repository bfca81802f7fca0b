import { expect, test } from "vitest";
import { hasMethods } from "./has-methods.js";
import { showGiven } from "./show-given.js";

test.each<[value: unknown, shown: string]>([
  [undefined, "undefined"],
  [null, "null"],
  ["postgres://localhost", '"postgres://localhost"'],
  [Promise.resolve(), "a promise: an await is missing"],
  // oxlint-disable-next-line unicorn/no-thenable -- a query builder is such a one
  [Object.assign(() => {}, { then() {} }), "a promise: an await is missing"],
  [{}, "an object (Object)"],
])("what was given is shown, and a forgotten await named (%#)", (value, shown) => {
  expect(showGiven(value)).toBe(shown);
});

test("methods are found in objects and functions, and only all of them together", () => {
  const methods = { query() {}, release() {}, size: 1 };
  for (const value of [methods, Object.assign(() => {}, methods), Object.create(methods)]) {
    expect(hasMethods(value, "query", "release")).toBe(true);
    expect(hasMethods(value, "query", "size")).toBe(false);
    expect(hasMethods(value, "query", "missing")).toBe(false);
  }
  for (const value of [undefined, null, "text", 5]) expect(hasMethods(value, "toString", "valueOf")).toBe(false);
});
