import { type RawBuilder, sql } from "kysely";
import { queryBuilder } from "./query-builder.js";
import { recordset } from "./recordset.js";

/**
 * Every (lane, priority) that has queued jobs, as the body of a recursive CTE called `line`: one step through the claim index
 * for each, a "loose index scan", however many jobs there are.
 */
export function queuedLines(schema: string): RawBuilder<{ lane: string; priority: number }> {
  const next = firstLine(schema);
  return sql`(${next} union all select n.lane, n.priority from line as l cross join lateral ${next.where(isBehind)} as n)`;
}

/**
 * The same with the lines of `known`, a JSON array: the steps begin at each of them, and end before the next, so that none goes through
 * a known line's own entries. The first begins at a line before all others, of priority -1.
 */
export function queuedLinesAround(schema: string, known: RawBuilder<unknown>): RawBuilder<{ lane: string; priority: number }> {
  const next = firstLine(schema).where(isBehind);
  return sql`(
    select k.lane, k.priority, pg_catalog.lead(k.lane) over by_line as until_lane, pg_catalog.lead(k.priority) over by_line as until_priority
      from (select '' collate "C" as lane, (-1)::int2 as priority
            union all
            select q.lane, q.priority from ${recordset(known, "q", { lane: "text", priority: "int2" })}) as k
    window by_line as (order by k.lane, k.priority)
    union all
    select n.lane, n.priority, l.until_lane, l.until_priority from line as l
      cross join lateral (
        select b.lane, b.priority from (${next.where(sql<boolean>`(j.lane, j.priority) < (l.until_lane, l.until_priority)`)}) as b
        union all
        select e.lane, e.priority from (${next.where(sql<boolean>`l.until_lane is null`)}) as e) as n)`;
}

const isBehind = sql<boolean>`(j.lane, j.priority) > (l.lane, l.priority)`;

function firstLine(schema: string) {
  return queryBuilder(schema)
    .selectFrom("jobs as j")
    .select(["j.lane", "j.priority"])
    .where("j.status", "=", sql.lit("queued"))
    .orderBy("j.lane")
    .orderBy("j.priority")
    .limit(sql.lit(1));
}
