import { sql } from "kysely";
import type { EffectKey } from "./begin-effect.js";
import { queryBuilder } from "./query-builder.js";
import { clockTimestamp } from "./sql-time.js";
import { defineStatement, placeholders, type Statement } from "./statement.js";

export interface FinishEffectInput extends EffectKey {
  readonly startedBy: string;
  readonly startedClaims: number;
}

/** Marks an effect as done. Safe to repeat; only the attempt that began it may. */
export function finishEffect(schema: string): Statement<FinishEffectInput, { key: string }> {
  const p = placeholders<FinishEffectInput>();
  return defineStatement(
    queryBuilder(schema)
      .updateTable("effects")
      .set({ done_at: clockTimestamp })
      .where("kind", "=", p.text("kind"))
      .where("key", "=", p.text("key"))
      .where("job_id", "=", p.bigint("jobId"))
      .where("started_by", "=", p.bigint("startedBy"))
      .where("started_claims", "=", p.int("startedClaims"))
      .returning("key"),
  );
}

/** Takes the record of an effect that failed away, so that the next attempt may run it. Safe to repeat. */
export function forgetEffect(schema: string): Statement<FinishEffectInput, { key: string }> {
  const p = placeholders<FinishEffectInput>();
  return defineStatement(
    queryBuilder(schema)
      .deleteFrom("effects")
      .where("kind", "=", p.text("kind"))
      .where("key", "=", p.text("key"))
      .where("job_id", "=", p.bigint("jobId"))
      .where("started_by", "=", p.bigint("startedBy"))
      .where("started_claims", "=", p.int("startedClaims"))
      .where(sql<boolean>`done_at is null`)
      .returning("key"),
  );
}
