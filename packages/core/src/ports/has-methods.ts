/** Whether `value` has all these methods. By shape, because an object of a library may be another copy's; some are functions. */
export function hasMethods(value: unknown, ...names: readonly string[]): boolean {
  const isObject = typeof value === "function" || (typeof value === "object" && value !== null);
  return isObject && names.every((name) => typeof (value as unknown as Record<string, unknown>)[name] === "function");
}
