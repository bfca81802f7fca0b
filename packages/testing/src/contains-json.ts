/**
 * Whether `actual` contains `part`: of objects the members that `part` names, of arrays all elements, in order, each by the same
 * rule. A member that is `undefined` in `part` must not be there.
 */
export function containsJson(actual: unknown, part: unknown): boolean {
  if (Array.isArray(part)) {
    return Array.isArray(actual) && actual.length === part.length && part.every((element, index) => containsJson(actual[index], element));
  }
  if (typeof part !== "object" || part === null) return Object.is(actual, part);
  if (typeof actual !== "object" || actual === null || Array.isArray(actual)) return false;
  return Object.entries(part).every(([name, value]) =>
    Object.hasOwn(actual, name) ? containsJson((actual as Record<string, unknown>)[name], value) : value === undefined,
  );
}
