const plainName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** `$.items[2].price`; a key that is no plain name is quoted: `$["first name"]`. */
export function showPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    if (typeof key === "string" && plainName.test(key)) return `${text}.${key}`;
    return `${text}[${JSON.stringify(String(key))}]`;
  }, "$");
}
