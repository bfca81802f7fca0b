import { type ExpressionBuilder, sql } from "kysely";
import type { StoreDatabase } from "./store-database.js";

/**
 * Whether key `k` is held, as the snapshot sees it. For `until-started` it locks the holding job FOR SHARE while that has not
 * been claimed, so that no claim takes it before this transaction ends.
 */
export function isHeld<TDatabase extends StoreDatabase & { k: StoreDatabase["job_keys"] }>(eb: ExpressionBuilder<TDatabase, "k">) {
  const keys = eb as unknown as ExpressionBuilder<StoreDatabase & { k: StoreDatabase["job_keys"] }, "k">;
  const job = keys.selectFrom("jobs as j").select(sql.lit(1).as("one")).where(sql<boolean>`j.id = k.job_id`);
  return sql<boolean>`case
    when k.expires_at <= pg_catalog.statement_timestamp() then false
    when k.release_on is null then true
    when k.release_on = 'ended' then exists ${job.where(sql<boolean>`j.status::text <> 'dead'`)}
    else (${job.where(sql<boolean>`j.claims = 0 and j.status::text <> 'dead'`).forShare()}) is not null
  end`;
}
