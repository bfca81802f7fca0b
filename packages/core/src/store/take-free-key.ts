import { type OnConflictBuilder, sql } from "kysely";
import type { StoreDatabase } from "./store-database.js";

/** The event that releases a key; a key that is held for a time has none. */
export type KeyRelease = "started" | "ended";

/**
 * `ON CONFLICT` of an insert into `job_keys`: takes the key over from the job that the snapshot saw having it (`replaces`), and
 * from no other. Waits for a rival whose transaction is open. The row that comes back names whose key it is now.
 */
export function takeFreeKey(conflict: OnConflictBuilder<StoreDatabase, "job_keys">) {
  const isFree = sql<boolean>`job_keys.job_id = excluded.replaces`;
  const swap = <T>(column: string) => sql<T>`case when ${isFree} then excluded.${sql.ref(column)} else job_keys.${sql.ref(column)} end`;
  return conflict.columns(["kind", "key"]).doUpdateSet({
    job_id: swap<string>("job_id"),
    replaces: swap<string | null>("replaces"),
    expires_at: swap<Date>("expires_at"),
    release_on: swap<KeyRelease | null>("release_on"),
  });
}
