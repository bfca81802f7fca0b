import { expect, test } from "vitest";
import { renderCompatibility } from "./compatibility-page.js";
import { environments } from "./environments.js";
import type { MatrixResult } from "./results.js";

const versions = [["pg", "8.23.1"]] as const;

const tried: MatrixResult = { environment: "node-24", package: "core", outcome: "works", checksum: "c", at: "2026-11-29T12:00:00.000Z" };

function rowOf(page: string, label: string): readonly string[] {
  const row = page.split("\n").find((line) => line.startsWith(`| ${label}`)) ?? "";
  return row
    .split("|")
    .slice(2, -1)
    .map((cell) => cell.trim());
}

test("a row has what works, what fails, and when that was tried", () => {
  const page = renderCompatibility([tried, { ...tried, package: "worker", outcome: "failed", at: "2026-11-28T12:00:00.000Z" }], versions);
  const row = rowOf(page, "Node 24");
  expect(row.slice(0, 3)).toEqual(["✓", "✗", ""]);
  expect(row.at(-1)).toBe("2026-11-28");
});

test("every environment has a row and says what is done there, tried or not", () => {
  const page = renderCompatibility([], versions);
  for (const { label, does } of environments) {
    expect(rowOf(page, label).join("")).toBe("");
    expect(page.split("\n").find((line) => line.startsWith("* **") && line.includes(label))).toContain(does);
  }
  expect(page).toContain("With pg 8.23.1.");
});

test("a result of what is tried no longer is not shown", () => {
  expect(renderCompatibility([{ ...tried, environment: "node-18" }], versions)).toBe(renderCompatibility([], versions));
});
