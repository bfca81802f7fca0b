import { sql } from "kysely";
import { quoteIdentifier } from "../migrations/quote.js";
import { queryBuilder } from "./query-builder.js";
import { queuedLines } from "./queued-lines.js";
import { defineStatement, type Statement } from "./statement.js";
import { textLiteral } from "./text-literal.js";

export interface PressureRow {
  readonly dead_tuples: string | null;
  readonly snapshot_age_ms: string | null;
  readonly snapshot_pid: number | null;
  readonly snapshot_application: string | null;
  /** A JSON array of kinds. */
  readonly kinds_without_worker: string;
}

/**
 * What keeps the table from being cleaned (dead rows, and the session whose snapshot is the oldest), and which of the kinds
 * that wait first in each line no worker has a handler for. Sessions of other users are visible to members of
 * pg_read_all_stats only.
 */
export function readPressure(schema: string): Statement<object, PressureRow> {
  const jobs = sql`${sql.id(schema, "jobs")}`;
  return defineStatement(
    queryBuilder(schema)
      .withRecursive("line", () => queuedLines(schema))
      .with(
        "holder",
        () => sql<{ pid: number; application: string; age_ms: string }>`(
        select a.pid, a.application_name as application, (extract(epoch from pg_catalog.clock_timestamp() - a.xact_start) * 1000)::text as age_ms
          from pg_catalog.pg_stat_activity a
         where a.backend_xmin is not null and a.datname = pg_catalog.current_database() and a.pid <> pg_catalog.pg_backend_pid()
           and a.xact_start is not null
         order by pg_catalog.age(a.backend_xmin) desc, a.xact_start limit 1)`,
      )
      .selectFrom(sql<{ one: number }>`(select 1 as one)`.as("once"))
      .leftJoin("holder as h", (join) => join.onTrue())
      .select([
        sql<string | null>`(select s.n_dead_tup::text from pg_catalog.pg_stat_all_tables s
           where s.relid = ${textLiteral(`${quoteIdentifier(schema)}.jobs`)}::regclass)`.as("dead_tuples"),
        sql<string | null>`h.age_ms`.as("snapshot_age_ms"),
        sql<number | null>`h.pid`.as("snapshot_pid"),
        sql<string | null>`h.application`.as("snapshot_application"),
        sql<string>`(select coalesce(pg_catalog.jsonb_agg(distinct w.kind), '[]')::text
           from line l cross join lateral (
             select j.kind from ${jobs} j
              where j.status = 'queued' and j.lane = l.lane and j.priority = l.priority order by j.run_at limit 200) w
          where not exists (select from ${sql.id(schema, "workers")} k
             where k.expires_at > pg_catalog.clock_timestamp() and w.kind = any(k.kinds)
               and (k.lanes is null or l.lane = any(k.lanes))))`.as("kinds_without_worker"),
      ]),
  );
}
