import { type RawBuilder, sql } from "kysely";
import { queryBuilder } from "./query-builder.js";

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
