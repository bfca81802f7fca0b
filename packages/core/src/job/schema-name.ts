import { queueError } from "../errors/queue-error.js";
import { checkName } from "./job-options.js";

/**
 * A name that PostgreSQL takes for a schema without cutting or refusing it: 1 to 63 bytes, not beginning with `pg_`. Anything
 * else is allowed, and quoted wherever it is used.
 *
 * @throws QueueError `INVALID_OPTION`
 */
export function checkSchemaName(schema: unknown): string {
  const name = checkName(schema, "schema", 63);
  if (name.startsWith("pg_")) {
    throw queueError(
      "INVALID_OPTION",
      `schema must not begin with "pg_", which PostgreSQL keeps for itself, but is ${JSON.stringify(name)}.`,
      {
        option: "schema",
      },
    );
  }
  return name;
}
