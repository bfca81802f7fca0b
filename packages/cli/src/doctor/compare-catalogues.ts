import type { Catalogue } from "./catalogue.js";
import type { Finding } from "./check.js";

const advice = "Run `queue migrate`; if that finds nothing to do, put it back as `queue migrate --sql` has it.";

/** What is missing, different, or too much in `actual`, in the order of the names. */
export function compareCatalogues(actual: Catalogue, expected: Catalogue): Finding[] {
  const objects = [...new Set([...actual.keys(), ...expected.keys()])].sort();
  return objects.flatMap((object): Finding[] => {
    const is = actual.get(object);
    const should = expected.get(object);
    if (is === should) return [];
    if (is === undefined) return isPartOfMissing(object, actual, expected) ? [] : [{ message: `The ${object} is missing.`, advice }];
    if (should === undefined)
      return isHarmless(object, expected) ? [] : [{ message: `The ${object} is not of the queue.`, advice: extraAdvice(object) }];
    return [{ message: `The ${object} is not as the migration makes it: ${difference(is, should)}.`, advice }];
  });
}

/** A missing table is said once, and not once more for each of its columns. */
function isPartOfMissing(object: string, actual: Catalogue, expected: Catalogue): boolean {
  const table = tableOf(object);
  return table !== undefined && isThere(table, expected) && !isThere(table, actual);
}

/** What people add beside the tables of the queue does not touch them. */
function isHarmless(object: string, expected: Catalogue): boolean {
  const table = tableOf(object);
  return table === undefined || !isThere(table, expected);
}

function tableOf(object: string): string | undefined {
  return /^(?:column|constraint|index|trigger) ([^.]+)\./.exec(object)?.[1];
}

function isThere(table: string, catalogue: Catalogue): boolean {
  return catalogue.has(`table ${table}`) || catalogue.has(`view ${table}`);
}

function extraAdvice(object: string): string {
  if (object.startsWith("index "))
    return "Every write maintains it, and an index on run_at or locked_until ends HOT updates: drop it if you can.";
  if (object.startsWith("trigger ")) return "It runs inside claims and completions: drop it, or be sure that it is fast and never fails.";
  return "Migrations do not know it: keep data of your own in tables of your own.";
}

/** Of two long texts, where they begin to differ. */
function difference(is: string, should: string): string {
  const [left, right] = [is, should].map((text) => text.replaceAll(/\s+/g, " "));
  if (left === undefined || right === undefined) return "";
  let start = 0;
  while (start < left.length && left[start] === right[start]) start += 1;
  return `${part(left, start)} instead of ${part(right, start)}`;
}

const longestPart = 100;

function part(text: string, differsAt: number): string {
  if (text.length <= longestPart) return text === "" ? "nothing" : text;
  const from = Math.max(0, differsAt - 30);
  return `${from > 0 ? "…" : ""}${text.slice(from, from + longestPart)}${from + longestPart < text.length ? "…" : ""}`;
}
