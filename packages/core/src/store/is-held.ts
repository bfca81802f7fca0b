import { type ExpressionBuilder, sql } from "kysely";
import type { StoreDatabase } from "./store-database.js";

/**
 * Whether key `k` is held, as the snapshot sees it. It locks the holding job FOR SHARE where its answer would not last until
 * this transaction ends: for `until-started` while the job has not been claimed, so that no claim takes it; for `until-ended`
 * when the job is dead, so that no redrive brings it back beside the one that takes its key over. What it had to wait for, it
 * judges as it is then.
 */
export function isHeld<TDatabase extends StoreDatabase & { k: StoreDatabase["job_keys"] }>(eb: ExpressionBuilder<TDatabase, "k">) {
  const keys = eb as unknown as ExpressionBuilder<StoreDatabase & { k: StoreDatabase["job_keys"] }, "k">;
  const jobs = keys.selectFrom("jobs as j").where(sql<boolean>`j.id = k.job_id`);
  const job = jobs.select(sql.lit(1).as("one"));
  const isAlive = sql<boolean>`j.status::text <> 'dead'`;
  return sql<boolean>`case
    when k.expires_at <= pg_catalog.statement_timestamp() then false
    when k.release_on is null then true
    when k.release_on = 'started' then (${job.where(sql<boolean>`j.claims = 0 and ${isAlive}`).forShare()}) is not null
    when exists ${job.where(isAlive)} then true
    else coalesce(${jobs.select(isAlive.as("alive")).forShare()}, false)
  end`;
}
