import type { Mutant } from "./mutant.js";

/**
 * The source with the mutant's text in place of the one that stands there. How lines are broken and indented does not count.
 *
 * @throws Error when that text is not there, or more than once: the source has moved on, and the mutant has to follow
 */
export function mutate(source: string, { name, file, find, replace }: Pick<Mutant, "name" | "file" | "find" | "replace">): string {
  const places = [...source.matchAll(new RegExp(patternOf(find), "g"))];
  const [place] = places;
  if (place === undefined || places.length > 1) {
    const found = place === undefined ? "is not there" : `stands there ${places.length} times`;
    throw new Error(`Mutant ${name} no longer applies: what it replaces ${found} in ${file}:\n${find}`);
  }
  return source.slice(0, place.index) + replace + source.slice(place.index + place[0].length);
}

function patternOf(text: string): string {
  const quoted = text.trim().replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return quoted.replaceAll(/\s+/g, "\\s*");
}
