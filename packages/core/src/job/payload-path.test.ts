import { expect, test } from "vitest";
import { showPath } from "./payload-path.js";

test.each([
  [[], "$"],
  [["items", 2, "price"], "$.items[2].price"],
  [[0, 1], "$[0][1]"],
  [["first name", "_a1", "1a"], '$["first name"]._a1["1a"]'],
  [['say "hi"'], String.raw`$["say \"hi\""]`],
  [[""], '$[""]'],
  [[Symbol("s")], '$["Symbol(s)"]'],
])("a path is shown as one would write it (%#)", (path, shown) => {
  expect(showPath(path)).toBe(shown);
});
