import { expect, it } from "vitest";
import { visible } from "./visible.js";

it.each([
  ["plain, ünïcode, 日本", "plain, ünïcode, 日本"],
  ["two\nlines\tand more", "two⏎lines and more"],
  ["\u001b[31mred", "\\u001b[31mred"],
  ["right\u202eto left", "right\\u202eto left"],
  ["\u009b2J", "\\u009b2J"],
])("%j is shown as %j", (text, shown) => {
  expect(visible(text)).toBe(shown);
});
