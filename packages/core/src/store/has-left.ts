import { sql } from "kysely";

/** Whether the job that `column` names has left the table. Not an anti-join, which the planner may answer by a scan of all jobs. */
export function hasLeft(schema: string, column: string) {
  return sql<boolean>`(select j.id from ${sql.id(schema, "jobs")} j where j.id = ${sql.ref(column)} limit 1) is null`;
}
