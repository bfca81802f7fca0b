import { sql } from "kysely";
import { queryBuilder } from "./query-builder.js";
import { defineStatement, placeholders, type Statement } from "./statement.js";

/**
 * Moves every time that is stored back by `byMs`, so that everything is as it will be when so much time has passed: for tests,
 * which cannot move the clock of the database. The times keep their distances to each other: due times, leases, keys, the
 * archive, who is alive. Keys that end by an event end at infinity, and stay there.
 *
 * Locks all jobs, in the order of their ids, and waits for who has one locked. Rows of the archive move to the partition of their
 * new day, or to the default one. Not safe to repeat.
 */
export function shiftTimes(schema: string): Statement<{ readonly byMs: number }, { ok: number }> {
  const p = placeholders<{ readonly byMs: number }>();
  const back = (column: string) => sql<Date>`${sql.ref(column)} - ${p.interval("byMs")}`;
  const errors = sql<string>`(
    select coalesce(pg_catalog.jsonb_agg(case when pg_catalog.jsonb_exists(e.entry, 'at')
             then e.entry || pg_catalog.jsonb_build_object('at', pg_catalog.to_jsonb((e.entry->>'at')::timestamptz - ${p.interval("byMs")}))
             else e.entry end order by e.position), '[]'::jsonb)
      from pg_catalog.jsonb_array_elements(errors) with ordinality as e(entry, position))`;
  const query = queryBuilder(schema)
    .with(
      (cte) => cte("held").materialized(),
      (db) => db.selectFrom("jobs as j").select("j.id").orderBy("j.id").forNoKeyUpdate(),
    )
    .with("moved_jobs", (db) =>
      db
        .updateTable("jobs")
        .set({
          run_at: back("run_at"),
          created_at: back("created_at"),
          started_at: back("started_at"),
          locked_until: back("locked_until"),
          errors,
        })
        .where(sql<boolean>`id = any(array(select id from held))`),
    )
    .with("moved_archive", (db) =>
      db.updateTable("jobs_archive").set({
        run_at: back("run_at"),
        created_at: back("created_at"),
        started_at: back("started_at"),
        finished_at: back("finished_at"),
        keep_until: back("keep_until"),
        errors,
      }),
    )
    .with("moved_keys", (db) => db.updateTable("job_keys").set({ expires_at: back("expires_at") }))
    .with("moved_lanes", (db) => db.updateTable("lanes").set({ paused_at: back("paused_at") }))
    .with("moved_workers", (db) => db.updateTable("workers").set({ started_at: back("started_at"), expires_at: back("expires_at") }))
    .with("moved_effects", (db) => db.updateTable("effects").set({ started_at: back("started_at"), done_at: back("done_at") }))
    .selectNoFrom(sql<number>`1`.as("ok"));
  return defineStatement(query);
}
