import { sql } from "kysely";
import { type JobRecordRow, jobRecordColumns } from "./job-record-row.js";
import { queryBuilder } from "./query-builder.js";
import { defineStatement, placeholders, type Statement } from "./statement.js";

/** One job, live or archived. Reads the primary key and the archive's BRIN index. */
export function findJob(schema: string): Statement<{ readonly id: string }, JobRecordRow> {
  const p = placeholders<{ readonly id: string }>();
  return defineStatement(
    queryBuilder(schema)
      .selectFrom("all_jobs as a")
      .select([...jobRecordColumns("a")])
      .where("a.id", "=", p.bigint("id"))
      .limit(sql.lit(1)),
  );
}
