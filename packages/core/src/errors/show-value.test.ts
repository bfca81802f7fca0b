import { expect, test } from "vitest";
import { showValue } from "./show-value.js";

function named() {}

test.each<[value: unknown, shown: string]>([
  ["text", '"text"'],
  ["x".repeat(100), `"${"x".repeat(80)}\u2026"`],
  ["a\u0000\n", String.raw`"a\u0000\n"`],
  [5, "5"],
  [-0, "0"],
  [Number.NaN, "NaN"],
  [10n, "10n"],
  [true, "true"],
  [undefined, "undefined"],
  [null, "null"],
  [Symbol("s"), "Symbol(s)"],
  [named, "function named"],
  [() => {}, "function (anonymous)"],
  [[1, 2], "an array of 2"],
  [new Date(0), "1970-01-01T00:00:00.000Z"],
  [new Date(Number.NaN), "an invalid Date"],
  [{ secret: "hunter2" }, "an object (Object)"],
  [new Map(), "an object (Map)"],
  [
    new Proxy(
      {},
      {
        getPrototypeOf() {
          throw new Error("hostile");
        },
      },
    ),
    "a value that cannot be shown",
  ],
])("a value is shown shortly, without what is inside of objects (%#)", (value, shown) => {
  expect(showValue(value)).toBe(shown);
});
