import * as kysely from "kysely";
import { expect, test } from "vitest";

test("the tests run on the version of kysely that KYSELY asks for", () => {
  // Left the root of the package in 0.29.
  expect("Migrator" in kysely).toBe(process.env["KYSELY"] !== "0.29");
});
