import type { InstalledSize } from "./installed-size.js";

const heading = "## Size";

/** What may be added without a word: sources grow by some lines in most changes. */
const tolerance = 0.1;

/** The section of a README that says what is installed. */
export function renderSizeSection({ ownBytes, totalBytes, dependencies, dependencyCount, peers }: InstalledSize): string {
  const names = dependencies.map((name) => `\`${name}\``);
  const own = `Installs ${roundedSize(ownBytes)}, with its sources and source maps,`;
  const peer = `${peers.length > 1 ? "Peers" : "Peer"}: ${peers.map((name) => `\`${name}\``).join(", ")}.`;
  const further = dependencyCount - dependencies.length;
  const below = further === 0 ? "which have none of their own" : `which bring ${further} more`;
  const one = further === 0 ? "which has none" : `which brings ${further} more`;
  const needs =
    names.length === 0
      ? "and no dependency"
      : names.length === 1
        ? `and one dependency, ${names.join("")}, ${one}: ${roundedSize(totalBytes)} in all`
        : `and ${names.length} dependencies, ${names.join(", ")}, ${below}: ${roundedSize(totalBytes)} in all`;
  return `${heading}\n\n${wrapped(`${own} ${needs}.${peers.length === 0 ? "" : ` ${peer}`}`)}\n`;
}

/** In lines as long as those of the documentation. */
function wrapped(text: string): string {
  return text.replaceAll(/(.{1,140})(?: |$)/g, "$1\n").trimEnd();
}

/** What a README says that is not so: sizes to a tenth, everything else to the letter. */
export function checkSizeSection(readme: string, size: InstalledSize): readonly string[] {
  const said = sectionIn(readme);
  if (said === undefined) return [`README.md has no section "${heading}". It should be:\n${renderSizeSection(size)}`];
  const expected = renderSizeSection(size);
  const isSame = withoutSizes(said) === withoutSizes(expected);
  const measured = [size.ownBytes, ...(size.dependencies.length === 0 ? [] : [size.totalBytes])];
  const sizes = sizesIn(said);
  const isClose = sizes.length === measured.length && sizes.every((bytes, index) => isNear(bytes, measured[index] ?? 0));
  return isSame && isClose ? [] : [`README.md says:\n${said}\nand this was measured:\n${expected}`];
}

/** The README with the section in place of the one that it has, or at its end. */
export function writeSizeSection(readme: string, size: InstalledSize): string {
  const said = sectionIn(readme);
  const section = renderSizeSection(size);
  return said === undefined ? `${readme.trimEnd()}\n\n${section}` : readme.replace(said, section);
}

function sectionIn(readme: string): string | undefined {
  const start = readme.indexOf(`${heading}\n`);
  if (start < 0) return undefined;
  const next = readme.indexOf("\n## ", start);
  return readme.slice(start, next < 0 ? undefined : next);
}

function roundedSize(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

const sizePattern = /\d+(?:\.\d+)? (?:kB|MB)/g;

function sizesIn(text: string): readonly number[] {
  return [...text.matchAll(sizePattern)].map(([size]) => Number.parseFloat(size) * (size.endsWith("MB") ? 1_000_000 : 1000));
}

function withoutSizes(text: string): string {
  return text.replaceAll(sizePattern, "…").replaceAll(/\s+/g, " ").trim();
}

function isNear(said: number, measured: number): boolean {
  return Math.abs(said - measured) <= measured * tolerance;
}
