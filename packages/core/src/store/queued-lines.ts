import { type RawBuilder, sql } from "kysely";
import { queryBuilder } from "./query-builder.js";
import { recordset } from "./recordset.js";

/**
 * Every (lane, priority) that has queued jobs, as the body of a recursive CTE called `line`: one step through the claim index
 * for each, a "loose index scan", however many jobs there are.
 */
export function queuedLines(schema: string): RawBuilder<{ lane: string; priority: number }> {
  const db = queryBuilder(schema);
  const next = db
    .selectFrom("jobs as j")
    .select(["j.lane", "j.priority"])
    .where("j.status", "=", sql.lit("queued"))
    .orderBy("j.lane")
    .orderBy("j.priority")
    .limit(sql.lit(1));
  return sql`(${next} union all select n.lane, n.priority from line as l cross join lateral ${next.where(
    sql<boolean>`(j.lane, j.priority) > (l.lane, l.priority)`,
  )} as n)`;
}

/**
 * The same with the lines of `known`, a JSON array: each step goes to the next known line, or to one with jobs before it, and never
 * through a known line's own entries. It begins with a line before all others, of priority -1.
 */
export function queuedLinesAround(schema: string, known: RawBuilder<unknown>): RawBuilder<{ lane: string; priority: number }> {
  const between = queryBuilder(schema)
    .selectFrom("jobs as j")
    .select(["j.lane", "j.priority"])
    .where("j.status", "=", sql.lit("queued"))
    .where(sql<boolean>`(j.lane, j.priority) > (l.lane, l.priority)`)
    .orderBy("j.lane")
    .orderBy("j.priority")
    .limit(sql.lit(1));
  const nextKnown = sql`select q.lane, q.priority from ${recordset(known, "q", { lane: "text", priority: "int2" })}
    where (q.lane collate "C", q.priority) > (l.lane, l.priority) order by q.lane collate "C", q.priority limit 1`;
  return sql`(select '' collate "C" as lane, (-1)::int2 as priority
    union all
    select n.lane, n.priority from line as l
      left join lateral (${nextKnown}) as k on true
      cross join lateral (
        select b.lane, b.priority from (
          ${between.where(sql<boolean>`(j.lane, j.priority) < (k.lane, k.priority)`)}) as b
        union all
        select e.lane, e.priority from (${between.where(sql<boolean>`k.lane is null`)}) as e
        union all
        select k.lane, k.priority where k.lane is not null
        limit 1) as n)`;
}
