import { type AliasedExpression, type RawBuilder, sql } from "kysely";
import { queryBuilder } from "./query-builder.js";

/** What happens at a row that somebody else has locked. */
export type FencedLock = "waits" | "skips";

/**
 * The running jobs among `wanted` (id, fence) that still belong to this claim, locked in the order of the input: `x.id`.
 *
 * The fence is (id, claims, worker). `claims` never goes down, unlike `attempts`, which a snooze takes back; `worker` is random
 * per process, because after a crash of the server an unflushed claim can be counted twice. A job that does not come back was
 * fenced off, or, where locked rows are skipped, is locked.
 *
 * `status::text` keeps the planner from the index on running jobs, up to 1.4 s instead of one look-up by id each.
 */
export function lockFenced<TRow extends { id: string; fence: number }>(
  schema: string,
  wanted: AliasedExpression<TRow, "u">,
  worker: RawBuilder<string>,
  lock: FencedLock,
) {
  return queryBuilder(schema)
    .selectFrom(wanted)
    .innerJoinLateral(
      (eb) => {
        const mine = eb
          .selectFrom("jobs as j")
          .select("j.id")
          .where(sql<boolean>`j.id = u.id and j.status::text = 'running' and j.claims = u.fence and j.worker = ${worker}`)
          .limit(sql.lit(1))
          .forUpdate();
        return (lock === "skips" ? mine.skipLocked() : mine).as("x");
      },
      (join) => join.onTrue(),
    );
}
