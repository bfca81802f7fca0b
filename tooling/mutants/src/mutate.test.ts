import { describe, expect, test } from "vitest";
import { mutate } from "./mutate.js";

const mutant = { name: "no-poll", file: "packages/worker/src/fetch/fetcher.ts", find: "await sleep(ms);", replace: "await sleep(never);" };

describe("mutate", () => {
  test("replaces the text, and nothing else", () => {
    expect(mutate("await look();\nawait sleep(ms);\nawait claim();\n", mutant)).toBe(
      "await look();\nawait sleep(never);\nawait claim();\n",
    );
  });

  test("does not mind how lines are broken and indented", () => {
    const broken = { ...mutant, find: ".forUpdate() .skipLocked()", replace: ".forUpdate()" };
    expect(mutate("a.forUpdate().skipLocked().as(x)", broken)).toBe("a.forUpdate().as(x)");
    expect(mutate("a\n    .forUpdate()\n    .skipLocked()\n    .as(x)", broken)).toBe("a\n    .forUpdate()\n    .as(x)");
  });

  test("takes both texts as they are: no pattern, and no reference to what was found", () => {
    expect(mutate("f(a.b$1)", { ...mutant, find: "(a.b$1)", replace: "($&)" })).toBe("f($&)");
    expect(() => mutate("f(aXb$1)", { ...mutant, find: "(a.b$1)" })).toThrow("is not there");
  });

  test("says which mutant no longer applies, and why", () => {
    expect(() => mutate("await claim();", mutant)).toThrow(
      "Mutant no-poll no longer applies: what it replaces is not there in packages/worker/src/fetch/fetcher.ts:\nawait sleep(ms);",
    );
    expect(() => mutate("await sleep(ms); await sleep(ms);", mutant)).toThrow("what it replaces stands there 2 times in");
  });
});
