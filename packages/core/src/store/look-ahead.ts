import { sql } from "kysely";
import { isOfKinds } from "./of-kinds.js";
import { queryBuilder } from "./query-builder.js";
import { queuedLinesAround } from "./queued-lines.js";
import { clockTimestamp, transactionTimestamp } from "./sql-time.js";
import { defineStatement, placeholders, type Statement } from "./statement.js";

export interface LookAheadInput {
  /** A JSON array of lines that come back without a look at whether they have jobs. */
  readonly known: string;
  /** The kinds that the worker has handlers for, as an array literal. */
  readonly kinds: string;
}

export interface LaneAhead {
  readonly lane: string;
  readonly priority: number;
  /** Milliseconds until the next job that is not yet due; null when there is none. By the database's clock. */
  readonly due_in_ms: string | null;
}

/**
 * The lines that have queued jobs, and those that are known, and when the next one that is not yet due will be. Reads only. Of the
 * lines that are known it passes no entry that was due before: while somebody holds a snapshot, all that was claimed since is there.
 */
export function lookAhead(schema: string): Statement<LookAheadInput, LaneAhead> {
  const p = placeholders<LookAheadInput>();
  const query = queryBuilder(schema)
    .withRecursive("line", () => queuedLinesAround(schema, p.json("known")))
    .selectFrom("line as l")
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom("jobs as j")
          .select("j.run_at")
          .where("j.status", "=", sql.lit("queued"))
          .whereRef("j.lane", "=", "l.lane")
          .whereRef("j.priority", "=", "l.priority")
          .where("j.run_at", ">", transactionTimestamp)
          .where(isOfKinds(p.texts("kinds")))
          .orderBy("j.run_at")
          .limit(sql.lit(1))
          .as("next"),
      (join) => join.onTrue(),
    )
    .select(["l.lane", "l.priority"])
    .select(sql<string | null>`(extract(epoch from next.run_at - ${clockTimestamp}) * 1000)::text`.as("due_in_ms"))
    // The step before the first line.
    .where("l.priority", ">=", sql.lit(0));
  return defineStatement(query);
}
