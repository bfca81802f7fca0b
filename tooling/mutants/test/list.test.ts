import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { allMutants } from "../src/all-mutants.js";
import { mutate } from "../src/mutate.js";
import { readSource, repository } from "../src/repository.js";

describe("the list of mutants", () => {
  test("has followed the sources: each applies", async () => {
    const checks = await Promise.allSettled(allMutants.map(async (mutant) => mutate(await readSource(mutant.file), mutant)));
    expect(checks.flatMap((check) => (check.status === "rejected" ? [String(check.reason)] : []))).toEqual([]);
  });

  test("breaks sources of packages only, and names each mutant once", () => {
    expect(allMutants.filter(({ file }) => !/^packages\/(core|worker)\/src\/.+(?<!\.test)\.ts$/.test(file))).toEqual([]);
    expect(new Set(allMutants.map(({ name }) => name)).size).toBe(allMutants.length);
    expect(allMutants.filter(({ find, replace }) => find === replace)).toEqual([]);
  });

  test("names killers that are there, and none that runs a build, which no mutant reaches", () => {
    const killers = [...new Set(allMutants.flatMap((mutant) => mutant.killers))];
    expect(killers.filter((killer) => !existsSync(`${repository}/${killer}`))).toEqual([]);
    expect(killers.filter((killer) => killer.startsWith("tests/e2e"))).toEqual([]);
  });
});
