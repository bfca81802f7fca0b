import type { SQL } from "drizzle-orm";
import { columnName, type ExecutableQuery, queueError } from "@queue/core/adapter";
import { CompiledStatement } from "./compiled-statement.js";

/** What runs statements: by shape, of whatever copy of Drizzle, driver and schema. */
export interface DrizzleRunner {
  execute(query: never): PromiseLike<unknown>;
}

/**
 * Runs one statement. The sessions of Drizzle differ in what they answer: an object with `rows`, or the rows alone. An error is
 * the driver's own: Drizzle's has all parameters in its message, and a payload is not to get into logs that way.
 */
export async function runStatement<R>(db: DrizzleRunner, query: ExecutableQuery): Promise<{ rows: R[] }> {
  const runner: { execute(query: SQL): PromiseLike<unknown> } = db;
  try {
    const answer = await runner.execute(new CompiledStatement(query));
    return { rows: rowsOf(answer).map((row) => withColumnNames(row, query.sql) as R) };
  } catch (error) {
    throw driverError(error);
  }
}

/** By shape: a DrizzleQueryError of whatever copy. */
function driverError(error: unknown): unknown {
  const isDrizzles = error instanceof Error && "query" in error && "params" in error;
  return isDrizzles && error.cause instanceof Error ? error.cause : error;
}

function rowsOf(answer: unknown): readonly object[] {
  if (Array.isArray(answer)) return Array.from(answer as object[]);
  if (typeof answer === "object" && answer !== null && "rows" in answer && Array.isArray(answer.rows)) return answer.rows as object[];
  throw queueError("INVALID_OPTION", "This session of Drizzle answers a statement neither with rows nor with an object that has them.", {
    option: "db",
  });
}

/** A `transform` of postgres.js has changed the names; without one, every column is found at once. */
function withColumnNames(row: object, sql: string): object {
  const names = Object.keys(row);
  if (names.every((name) => columnName(name, sql) === name)) return row;
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [columnName(name, sql), value]));
}
