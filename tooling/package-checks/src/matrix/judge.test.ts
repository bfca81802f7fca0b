import { expect, test } from "vitest";
import { judge } from "./judge.js";

const limit = { environments: ["deno"], package: "neon", error: "ERR_NOT_THERE", reason: "Deno does not have it." };

test("nothing wrong works, and anything wrong has failed", () => {
  expect(judge([], undefined)).toEqual({ outcome: "works", problems: [] });
  expect(judge(["broken"], undefined)).toEqual({ outcome: "failed", problems: ["broken"] });
});

test("a known limit is none of our failures, and says why", () => {
  expect(judge(["neon.mjs: ERR_NOT_THERE"], limit)).toEqual({ outcome: "limit", problems: [limit.reason] });
});

test("a known limit hides nothing else", () => {
  expect(judge(["neon.mjs: ERR_NOT_THERE", "another"], limit)).toEqual({ outcome: "failed", problems: ["another"] });
});

test("a known limit that does not show any more fails, and is named", () => {
  const { outcome, problems } = judge([], limit);
  expect(outcome).toBe("failed");
  expect(problems.join()).toContain("Deno does not have it.");
});
