import { expect, it } from "vitest";
import { parseSoakOptions } from "./soak-options.js";

it("holds a snapshot for a third of the time when nothing else is said", () => {
  expect(parseSoakOptions([])).toMatchObject({ minutes: 30, holdMinutes: 10, ratePerSecond: 1_000, seed: 1, isJson: false });
  expect(parseSoakOptions(["--minutes", "3", "--hold-minutes", "0", "--json"])).toMatchObject({ minutes: 3, holdMinutes: 0, isJson: true });
});

it.each([
  [["--minutes", "none"], /--minutes must be a number above 0/],
  [["--rate", "0"], /--rate must be a number above 0/],
  [["--hold-minutes", "-1"], /--hold-minutes|argument/],
  [["--minutes", "2", "--hold-minutes", "2"], /--hold-minutes must be less than --minutes/],
  [["--speed", "3"], /--speed/],
])("refuses %j", (args, message) => {
  expect(() => parseSoakOptions(args)).toThrow(message);
});
