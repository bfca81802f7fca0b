/** `value` for an error message: short, and safe for anything that JavaScript can hold. */
export function showValue(value: unknown): string {
  try {
    switch (typeof value) {
      case "string":
        return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value);
      case "bigint":
        return `${value}n`;
      case "symbol":
      case "number":
      case "boolean":
      case "undefined":
        return String(value);
      case "function":
        return `function ${value.name || "(anonymous)"}`;
      case "object":
        if (value === null) return "null";
        if (Array.isArray(value)) return `an array of ${value.length}`;
        if (value instanceof Date) return Number.isNaN(value.getTime()) ? "an invalid Date" : value.toISOString();
        return `an object (${Object.prototype.toString.call(value).slice(8, -1)})`;
    }
  } catch {
    return "a value that cannot be shown";
  }
}
