/** What `transform: postgres.camel` of postgres.js and its siblings leave, and a column of the queue never has. */
const transformed = /[A-Z-]/;
/** The words of a statement that can name a column; what stands before a dot is a schema or a table. */
const words = /\b[A-Za-z_][A-Za-z0-9_$]*\b(?!"?\.)/g;

/**
 * The name of a column as the statement has it: `maxAttempts`, `MaxAttempts` and `max-attempts` of a `transform` are
 * `max_attempts` again. postgres.js has transformed it already when it tells, also below other libraries.
 */
export function columnName(name: string, sql: string): string {
  if (!transformed.test(name)) return name;
  const candidates: readonly string[] = sql.match(words) ?? [];
  const plain = withoutCase(name);
  return candidates.includes(name) ? name : (candidates.find((word) => withoutCase(word) === plain) ?? name);
}

function withoutCase(name: string): string {
  return name.replaceAll(/[_-]/g, "").toLowerCase();
}
