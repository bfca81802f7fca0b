import { sql } from "kysely";
import { type ClaimAnswerRow, type ClaimJobsInput, candidates, claim, claimAnswer } from "./claim-jobs.js";
import { archiveCompleted, type CompleteJobsInput, lockCompleted, takeCompleted } from "./complete-jobs.js";
import { queryBuilder } from "./query-builder.js";
import { defineStatement, placeholders, type Statement } from "./statement.js";

export interface CompleteAndClaimInput extends CompleteJobsInput, ClaimJobsInput {}

/**
 * `completeJobs` and `claimJobs` in one statement and one commit: what a busy worker sends, once for a whole batch. Waits for
 * nothing. The jobs that it completes may have enqueued others, which its own claim sees when they were committed before.
 */
export function completeAndClaim(schema: string): Statement<CompleteAndClaimInput, ClaimAnswerRow> {
  const p = placeholders<CompleteAndClaimInput>();
  return defineStatement(
    queryBuilder(schema)
      .with(
        (cte) => cte("mine").materialized(),
        () => lockCompleted(schema, p, "skips"),
      )
      .with("gone", () => takeCompleted(schema))
      .with("kept", () => archiveCompleted(schema))
      .with(
        (cte) => cte("candidates").materialized(),
        () => candidates(schema, p),
      )
      .with("claimed", () => claim(schema, p))
      .selectFrom(claimAnswer(schema, sql`(select pg_catalog.string_agg(id::text, ',') from gone)`))
      .selectAll(),
  );
}
