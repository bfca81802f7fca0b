import { describe, beforeAll, expect, test } from "vitest";
import { generatePayloads, generateQueue, type PayloadStyle } from "../src/generate-queue.js";
import { errorsOf, openProgram } from "./program.js";

/** How many types the compiler makes of generic ones, which is what checking costs: the same number on every machine. */
async function count(files: ReadonlyMap<string, string>): Promise<number> {
  await using opened = await openProgram(files);
  expect(errorsOf(opened, files.keys())).toEqual([]);
  return opened.program.getInstantiationCount();
}

/** What `kinds` kinds make more, enqueued and handled, than their payloads beside an empty queue. */
async function costOf(kinds: number, style: PayloadStyle): Promise<number> {
  return (await count(generateQueue(kinds, style))) - (await count(generatePayloads(kinds, style)));
}

describe.each([
  { style: "types", mostForOne: 240 },
  { style: "schemas", mostForOne: 820 },
] as const)("kinds whose payloads are defined by $style", ({ style, mostForOne }) => {
  let fifty: number;
  let fiveHundred: number;

  beforeAll(async () => {
    fifty = await costOf(50, style);
    fiveHundred = await costOf(500, style);
  }, 240_000);

  test("cost a bounded number of instantiations each, with their enqueue and their handler", () => {
    expect(fiveHundred / 500).toBeLessThan(mostForOne);
  });

  test("cost ten times as much when there are ten times as many, and not more", () => {
    expect(fiveHundred / fifty).toBeLessThan(10.5);
  });
});
