import { sql } from "kysely";
import { queryBuilder } from "./query-builder.js";
import { clockTimestamp } from "./sql-time.js";
import { defineStatement, placeholders, type Statement } from "./statement.js";

export interface ExtendLeasesInput {
  /** Array literals of the same length. */
  readonly ids: string;
  readonly fences: string;
  readonly worker: string;
  readonly leaseMs: number;
}

export interface ExtendedLease {
  readonly id: string;
  /** The lease was extended. */
  readonly extended: boolean;
  /** The job still belongs to this claim. Not extended but held: its row is being written (a completion on its way). */
  readonly held: boolean;
}

/**
 * The heartbeat: extends the leases of everything a process runs, in one statement. Rows that are locked are skipped, which
 * makes a deadlock with settling impossible (ten in twelve seconds when it waited). Safe to repeat.
 */
export function extendLeases(schema: string): Statement<ExtendLeasesInput, ExtendedLease> {
  const p = placeholders<ExtendLeasesInput>();
  const isMine = sql<boolean>`j.id = u.id and j.status::text = 'running' and j.claims = u.fence and j.worker = ${p.text("worker")}`;
  const query = queryBuilder(schema)
    .with(
      (cte) => cte("wanted").materialized(),
      (db) =>
        db
          .selectFrom(sql<{ id: string; fence: number }>`unnest(${p.bigints("ids")}, ${p.ints("fences")})`.as<"u">(sql`u(id, fence)`))
          .select((eb) => {
            // Not EXISTS: the planner may answer that one by a hash of all running jobs, from a scan of the whole table.
            const mine = eb.selectFrom("jobs as j").select(sql.lit(1).as("one")).where(isMine).limit(sql.lit(1));
            return ["u.id", "u.fence", sql<boolean>`${mine} is not null`.as("held")];
          }),
    )
    .with(
      (cte) => cte("mine").materialized(),
      (db) =>
        db
          .selectFrom("wanted as u")
          .innerJoinLateral(
            (eb) => eb.selectFrom("jobs as j").select("j.id").where(isMine).limit(sql.lit(1)).forNoKeyUpdate().skipLocked().as("x"),
            (join) => join.onTrue(),
          )
          .select("x.id"),
    )
    .with("extended", (db) =>
      db
        .updateTable("jobs as j")
        .set({ locked_until: sql<Date>`${clockTimestamp} + ${p.interval("leaseMs")}` })
        .where(sql<boolean>`j.id = any(array(select id from mine))`)
        .returning("j.id"),
    )
    .selectFrom("wanted as w")
    .leftJoin("extended as e", "e.id", "w.id")
    .select([sql<string>`w.id::text`.as("id"), sql<boolean>`e.id is not null`.as("extended"), sql<boolean>`w.held`.as("held")]);
  return defineStatement(query);
}
