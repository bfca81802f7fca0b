import { type Expression, type RawBuilder, sql } from "kysely";
import { clockTimestamp } from "./sql-time.js";

/** More would make the row wide, and a job that fails for days would never stop growing. */
const longestHistory = 20;

/** `j.errors` with one entry more and the oldest dropped; `entry` is a JSON object, which gets attempt, time and worker. */
export function appendError(entry: Expression<unknown>): RawBuilder<string> {
  return sql`case when pg_catalog.jsonb_array_length(j.errors) >= ${sql.lit(longestHistory)} then j.errors - 0 else j.errors end
    || pg_catalog.jsonb_build_array(pg_catalog.jsonb_build_object(
         'attempt', j.attempts, 'at', pg_catalog.to_jsonb(${clockTimestamp}), 'worker', j.worker) || ${entry})`;
}
