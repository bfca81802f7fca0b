import type { Lab } from "./lab.js";

/** A check of several packages at once: what it finds is found for each of them, and it runs one time. */
export function onceForAll(check: (lab: Lab) => Promise<readonly string[]>): (lab: Lab) => Promise<readonly string[]> {
  let found: Promise<readonly string[]> | undefined;
  return (lab) => (found ??= check(lab));
}
