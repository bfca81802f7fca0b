import { describe, expect, it } from "vitest";
import { containsJson } from "./contains-json.js";

describe("containsJson", () => {
  it.each([
    [{ a: 1, b: 2 }, { a: 1 }],
    [{ a: { b: 1, c: 2 } }, { a: { b: 1 } }],
    [{ a: [1, { b: 2, c: 3 }] }, { a: [1, { b: 2 }] }],
    [{ a: 1 }, {}],
    [{ a: 1 }, { b: undefined }],
    [null, null],
    ["text", "text"],
  ])("%j contains %j", (actual, part) => {
    expect(containsJson(actual, part)).toBe(true);
  });

  it.each([
    [{ a: 1 }, { a: 2 }],
    [{ a: 1 }, { b: 1 }],
    [{ a: null }, { a: {} }],
    [{ a: [1, 2] }, { a: [1] }],
    [{ a: [] }, { a: {} }],
    [{ a: 1 }, { a: undefined }],
    [null, {}],
    [{}, { toString: Object.prototype.toString }],
  ])("%j does not contain %j", (actual, part) => {
    expect(containsJson(actual, part)).toBe(false);
  });
});
