import { columnName, type ExecutableQuery, queueError } from "@queue/core/adapter";

/** The part of every `sql` of postgres.js that is used: `never` fits whatever custom types it has. */
export interface StatementRunner {
  unsafe(sql: string, parameters?: never[]): { raw(): PromiseLike<RawRows> };
}

interface RawRows extends Iterable<unknown> {
  /** None for a statement that has no result. */
  readonly columns?: readonly RawColumn[] | undefined;
}

interface RawColumn {
  readonly name: string;
  /** The oid of its type. */
  readonly type: number;
}

const boolOid = 16;
/** int2, int4, oid, float4 and float8: what a JavaScript number holds exactly. */
const numberOids: ReadonlySet<number> = new Set([21, 23, 26, 700, 701]);

/**
 * Runs one statement and reads its rows: booleans, null, and the numbers that JavaScript has; all else is text as the server
 * writes it. The rows are asked for raw, so that `transform` and custom `types` change nothing. Nothing is prepared on the
 * server.
 */
export async function runStatement<R>(sql: StatementRunner, { sql: text, parameters }: ExecutableQuery): Promise<{ rows: R[] }> {
  const result = await sql.unsafe(text, [...parameters] as never[]).raw();
  const columns = (result.columns ?? []).map(({ name, type }) => ({ name: columnName(name, text), type }));
  return { rows: Array.from(result, (row) => readRow(row, columns) as R) };
}

function readRow(row: unknown, columns: readonly RawColumn[]): Record<string, unknown> {
  if (!Array.isArray(row) || row.length !== columns.length) {
    throw queueError(
      "INVALID_OPTION",
      "The `transform.row` of your postgres() changes the rows of the queue's statements, too. Use `transform.column` and `transform.value`, which do not, or give the queue a postgres() of its own.",
      { option: "transform.row" },
    );
  }
  return Object.fromEntries(columns.map(({ name, type }, index) => [name, readValue(row[index], type)]));
}

function readValue(value: unknown, type: number): unknown {
  if (!(value instanceof Uint8Array)) return value;
  const text = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("utf8");
  return type === boolOid ? text === "t" : numberOids.has(type) ? Number(text) : text;
}
