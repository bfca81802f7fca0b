import { type RawBuilder, sql } from "kysely";
import { clockTimestamp } from "./sql-time.js";

/** Less than how far below their cursors workers look when they are told that something was put back. */
const furthestSeconds = 240;

/**
 * `run_at` of a job that comes back through no fault of its own: where it stood in its line, so that it does not wait behind
 * everything that came after it. Not further back than claims look.
 */
export const keptPlace: RawBuilder<Date> = sql`greatest(j.run_at, ${clockTimestamp} - interval '${sql.raw(String(furthestSeconds))} seconds')`;
