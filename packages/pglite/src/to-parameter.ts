/**
 * A parameter as node-postgres would send it, where PGlite would send something else: a Date with the local offset (to a
 * `date` or `timestamp` column PGlite writes UTC, which reads back as another day), and an object as JSON whatever the column.
 */
export function toParameter(value: unknown): unknown {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  if (value instanceof Date) return toLocalTimestamp(value);
  // PGlite knows whether it is for an array or a json column; the elements are its business, but for dates.
  if (Array.isArray(value))
    return value.map((element) => (element instanceof Date || Array.isArray(element) ? toParameter(element) : element));
  if (hasToPostgres(value)) return toParameter(value.toPostgres(toParameter));
  return JSON.stringify(value);
}

/** What node-postgres honours, and its intervals have. */
function hasToPostgres(value: object): value is { toPostgres(prepare: typeof toParameter): unknown } {
  return "toPostgres" in value && typeof value.toPostgres === "function";
}

function toLocalTimestamp(date: Date): string {
  const year = date.getFullYear();
  const isBeforeChrist = year < 1;
  const day = [pad(isBeforeChrist ? 1 - year : year, 4), pad(date.getMonth() + 1), pad(date.getDate())].join("-");
  const time = [pad(date.getHours()), pad(date.getMinutes()), `${pad(date.getSeconds())}.${pad(date.getMilliseconds(), 3)}`].join(":");
  const offsetMinutes = -date.getTimezoneOffset();
  const offset = `${offsetMinutes < 0 ? "-" : "+"}${pad(Math.trunc(Math.abs(offsetMinutes) / 60))}:${pad(Math.abs(offsetMinutes) % 60)}`;
  return `${day}T${time}${offset}${isBeforeChrist ? " BC" : ""}`;
}

function pad(number: number, digits = 2): string {
  return String(number).padStart(digits, "0");
}
