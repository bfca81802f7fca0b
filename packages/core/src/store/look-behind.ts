import { sql } from "kysely";
import { notificationChannel } from "./notification-channel.js";
import { isOfKinds } from "./of-kinds.js";
import { queryBuilder } from "./query-builder.js";
import { recordset } from "./recordset.js";
import { toMicros, transactionTimestamp } from "./sql-time.js";
import { defineStatement, placeholders, type Statement } from "./statement.js";

export interface LookBehindInput {
  /** A JSON array of lines, each with the moment below which it is looked at, in microseconds since 1970. */
  readonly lines: string;
  /** The kinds that the worker has handlers for, as an array literal. */
  readonly kinds: string;
}

export interface Straggler {
  readonly lane: string;
  readonly priority: number;
  /** When the first of them is due: microseconds since 1970. */
  readonly run_at: string;
}

/**
 * Due jobs far below the claim cursors: of a transaction that was open for very long, or whose lock a claim met. Reads only, and
 * everything that is due, also what this worker cannot do (160–310 ms for a million): seldom, and by one worker at a time.
 * Nothing comes back while another one looks.
 */
export function lookBehind(schema: string): Statement<LookBehindInput, Straggler> {
  const p = placeholders<LookBehindInput>();
  const turn = sql.lit(`${notificationChannel(schema)}.look_behind`);
  return defineStatement(
    queryBuilder(schema)
      .with(
        (cte) => cte("turn").materialized(),
        () => sql<{ ours: boolean }>`(select pg_catalog.pg_try_advisory_xact_lock(pg_catalog.hashtextextended(${turn}, 0)) as ours)`,
      )
      .selectFrom(recordset(p.json("lines"), "l", { lane: "text", priority: "int2", below: "int8" }))
      .crossJoinLateral((eb) =>
        eb
          .selectFrom("jobs as j")
          .select("j.run_at")
          .where(sql<boolean>`(select ours from turn)`)
          .where("j.status", "=", sql.lit("queued"))
          .whereRef("j.lane", "=", "l.lane")
          .whereRef("j.priority", "=", "l.priority")
          .where(sql<boolean>`j.run_at < timestamptz 'epoch' + l.below * interval '1 microsecond'`)
          .where("j.run_at", "<=", transactionTimestamp)
          .where(isOfKinds(p.texts("kinds")))
          .orderBy("j.run_at")
          .orderBy("j.id")
          .limit(sql.lit(1))
          .as("first"),
      )
      .select(["l.lane", "l.priority"])
      .select((eb) => toMicros(eb.ref("first.run_at")).as("run_at")),
  );
}
