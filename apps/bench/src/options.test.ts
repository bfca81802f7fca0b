import { describe, expect, it } from "vitest";
import { parseOptions } from "./options.js";

describe("the options", () => {
  it("choose measures and sides in the order of the tables, whatever their order or case", () => {
    const { measures, variants } = parseOptions(["--measure", "s4,s1", "--side", "pg-boss,ours"]);
    expect(measures.map(({ id }) => id)).toEqual(["S1", "S4"]);
    expect(variants.map(({ label }) => label)).toEqual(["ours", "pg-boss, best", "pg-boss, defaults"]);
  });

  it("are ten measures in five rounds when nothing is said", () => {
    const { measures, sizes } = parseOptions([]);
    expect(measures).toHaveLength(10);
    expect(sizes.rounds).toBe(5);
  });

  it.each([
    [["--measure", "S11"], "--measure S11 is unknown"],
    [["--side", "sidekiq"], "--side sidekiq is unknown"],
    [["--rounds", "0"], "--rounds is a whole number"],
    [["--fast"], "--fast"],
  ])("refuse %j", (argv, message) => {
    expect(() => parseOptions(argv)).toThrow(message);
  });
});
