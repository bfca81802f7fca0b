import { type RawBuilder, sql } from "kysely";
import { notificationChannel } from "./notification-channel.js";

/**
 * Wakes the workers of `schema`, as an item of FROM: `select … from x cross join lateral ${ring}`. `message` is `*` (look
 * everywhere), `cancel ID`, or names a line. pg_notify in FROM, because some libraries cannot read a column of type void.
 */
export function ring(schema: string, message: RawBuilder<string>): RawBuilder<unknown> {
  return sql`pg_catalog.pg_notify(${sql.lit(notificationChannel(schema))}, ${message})`;
}

/** So many lines are named by one statement, and none in more bytes; what does not fit becomes `*`, as in the trigger. */
export const mostNamedLines = 16;
export const longestNamedLane = 180;

/**
 * Wakes the workers for the lines of the rows of `source`, a CTE with the columns lane, priority and run_at, as the body of a CTE. It
 * names the second since which a job is due there, so that nobody looks further below than that.
 */
export function ringForLines(schema: string, source: string): RawBuilder<{ ok: number }> {
  const first = sql`pg_catalog.floor(extract(epoch from pg_catalog.min(r.run_at)))`;
  return sql`(
    select 1 as ok from (
      select distinct case when pg_catalog.count(*) over () > ${sql.lit(mostNamedLines)} or pg_catalog.octet_length(r.lane) > ${sql.lit(longestNamedLane)}
             then '*' else r.priority || '@' || ${first} || ' ' || r.lane end as message
        from ${sql.ref(source)} as r group by r.lane, r.priority) as line
     cross join lateral ${ring(schema, sql`line.message`)} as bell)`;
}
