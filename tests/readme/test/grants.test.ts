import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";

const root = new URL("../../../", import.meta.url);

it("the grants in the operations guide are those that the tests of core apply", async () => {
  const guide = await readFile(new URL("docs/operations.md", root), "utf8");
  const applied = (await readFile(new URL("packages/core/test/grants.sql", root), "utf8")).replace(/^--.*\n/gm, "").trim();
  expect(guide).toContain(applied);
});
