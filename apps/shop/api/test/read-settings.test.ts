import { expect, test } from "vitest";
import { readSettings } from "../src/read-settings.js";

const url = "postgres://localhost/shop";

test("the api needs a database, and has defaults for the rest", () => {
  expect(readSettings({ DATABASE_URL: url })).toEqual({ url, port: 0, reviewDelayMs: 7 * 86_400_000 });
  expect(readSettings({ DATABASE_URL: url, PORT: "4000", REVIEW_DELAY_SECONDS: "1.5" })).toEqual({
    url,
    port: 4_000,
    reviewDelayMs: 1_500,
  });
});

test.each([
  ["DATABASE_URL", {}],
  ["DATABASE_URL", { DATABASE_URL: "" }],
  ["PORT", { DATABASE_URL: url, PORT: "http" }],
  ["PORT", { DATABASE_URL: url, PORT: "70000" }],
  ["REVIEW_DELAY_SECONDS", { DATABASE_URL: url, REVIEW_DELAY_SECONDS: "soon" }],
])("what is wrong with %s is said in a sentence", (name, env) => {
  expect(readSettings(env)).toEqual({ problem: expect.stringContaining(name) });
});
