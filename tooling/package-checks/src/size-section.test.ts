import { describe, expect, test } from "vitest";
import type { InstalledSize } from "./installed-size.js";
import { checkSizeSection, renderSizeSection, writeSizeSection } from "./size-section.js";

const size: InstalledSize = {
  ownBytes: 25_400,
  dependencies: ["@queue/core"],
  dependencyCount: 1,
  totalBytes: 925_400,
  peers: ["knex"],
};
const readme = "# A package\n\n## Limits\n\n* One.\n";

test("a README without the section is told what to write", () => {
  expect(checkSizeSection(readme, size).join()).toContain("Installs 25 kB, with its sources and source maps, and one dependency");
});

test("what is written is true, and written again changes nothing", () => {
  const written = writeSizeSection(readme, size);
  expect(checkSizeSection(written, size)).toEqual([]);
  expect(writeSizeSection(written, size)).toBe(written);
  expect(written.startsWith(readme)).toBe(true);
});

test("a section in the middle is replaced where it is", () => {
  const before = `# A package\n\n## Size\n\nInstalls 1 kB.\n\n## Limits\n\n* One.\n`;
  expect(writeSizeSection(before, size)).toBe(`# A package\n\n${renderSizeSection(size)}\n## Limits\n\n* One.\n`);
});

describe("a README lies", () => {
  const written = writeSizeSection(readme, size);

  test.each([
    ["when the package has grown by more than a tenth", { ...size, ownBytes: 30_000 }],
    ["when it has shrunk by more than a tenth", { ...size, ownBytes: 20_000 }],
    ["when what it depends on has grown", { ...size, totalBytes: 1_500_000 }],
    ["when it depends on something else", { ...size, dependencies: ["@queue/core", "ms"], dependencyCount: 2 }],
    ["when what it depends on has dependencies", { ...size, dependencyCount: 4 }],
    ["when it has another peer", { ...size, peers: ["knex", "pg"] }],
  ])("%s", (_how, measured) => {
    expect(checkSizeSection(written, measured)).toHaveLength(1);
  });

  test("but not when it has grown by some lines", () => {
    expect(checkSizeSection(written, { ...size, ownBytes: 26_000, totalBytes: 950_000 })).toEqual([]);
  });
});
