import { type RawBuilder, sql } from "kysely";
import { clockTimestamp } from "./sql-time.js";

/**
 * Above it a payload is stored out of line, and the move would write it a second time: 14.6 kB of WAL instead of 7.7 for one of
 * 6 kB. The archive then has SQL null in its place.
 */
const largestArchivedPayload = 2_000;

const copied = [
  "id",
  "run_at",
  "created_at",
  "started_at",
  "claims",
  "attempts",
  "max_attempts",
  "redrives",
  "priority",
  "lane",
  "kind",
  "idempotency_key",
  "worker",
  "last_error",
  "errors",
] as const;

/** How a row of `jobs` becomes one of `jobs_archive`: the names, and the values from `g`, the deleted row. */
export const archiveColumns = {
  names: [...copied, "status", "finished_at", "keep_until", "payload"] as const,
  from: (status: "done" | "cancelled", keepUntil: RawBuilder<Date>, finishedAt = clockTimestamp) => [
    ...copied.map((name) => sql`g.${sql.ref(name)}`.as(name)),
    sql.lit(status).as("status"),
    finishedAt.as("finished_at"),
    keepUntil.as("keep_until"),
    sql`case when pg_catalog.pg_column_size(g.payload) <= ${sql.lit(largestArchivedPayload)} then g.payload end`.as("payload"),
  ],
};
