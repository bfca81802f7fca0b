import { expect, test } from "vitest";
import { everyPackage } from "./environment.js";
import { readMatrixOptions } from "./matrix-options.js";

const idsOf = (...args: string[]) => readMatrixOptions(args).environments.map(({ id }) => id);

test("without a filter everything is tried", () => {
  expect(readMatrixOptions([]).packages).toEqual(everyPackage);
  expect(idsOf()).toEqual(expect.arrayContaining(["typescript-5.4", "node-20", "bun", "next", "two-copies", "size", "unbuilt"]));
});

test("an environment is named by its beginning, several by commas or again", () => {
  expect(idsOf("--environment", "node")).toEqual(["node-20", "node-22", "node-24"]);
  expect(idsOf("-e", "bun,deno", "-e", "size")).toEqual(["bun", "deno", "size"]);
});

test("a package is named by its whole name", () => {
  expect(readMatrixOptions(["-p", "pg"]).packages).toEqual(["pg"]);
});

test.each([
  ["-e", "node-18"],
  ["-p", "mysql"],
])("%s %s, which there is not, is refused", (...args) => {
  expect(() => readMatrixOptions(args)).toThrow(/--list shows/);
});
