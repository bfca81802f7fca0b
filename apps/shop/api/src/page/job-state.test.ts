import { expect, test } from "vitest";
import { jobState } from "./job-state.js";

test.each([
  ["queued", 0, true, "waiting"],
  ["queued", 0, false, "scheduled"],
  ["queued", 1, false, "retrying"],
  ["queued", 1, true, "retrying"],
  ["running", 1, true, "running"],
  ["dead", 8, true, "dead"],
  ["done", 2, true, "done"],
  ["cancelled", 0, false, "cancelled"],
  ["waiting", 0, true, "waiting"],
] as const)("%s after %i attempts, due: %s, is called %s", (status, attempts, isDue, state) => {
  expect(jobState({ status, attempts, isDue })).toBe(state);
});
