import { expect, it } from "vitest";
import { columnWidths } from "./column-widths.js";

it("gives each column what it needs, when all fit", () => {
  expect(
    columnWidths(
      [
        ["id", "kind"],
        ["12345", "mail"],
      ],
      80,
      2,
    ),
  ).toEqual([5, 4]);
});

it("takes from the widest, until all fit", () => {
  expect(columnWidths([["12345", "x".repeat(100), "y".repeat(30)]], 60, 2)).toEqual([5, 25, 26]);
});

it("makes none narrower than six columns", () => {
  expect(columnWidths([["a".repeat(50), "b".repeat(50)]], 5, 2)).toEqual([6, 6]);
});

it("counts wide characters twice, and marks not at all", () => {
  expect(columnWidths([["日本"], ["e\u0301"]], 80, 2)).toEqual([4]);
});

it("knows an empty table", () => {
  expect(columnWidths([], 80, 2)).toEqual([]);
});
