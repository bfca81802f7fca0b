import { type SQL, sql } from "drizzle-orm";
import type { ExecutableQuery } from "@queue/core/adapter";

/**
 * What is no parameter although it may hold a `$1`: a text, an escape text, a quoted name, a dollar-quoted body, a comment.
 * Then, in group 2, the number of a parameter.
 */
const tokens = /E'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$(?:[A-Za-z_]\w*)?\$)[^]*?\1|--.*|\/\*[^]*?\*\/|\$(\d+)/g;

/** `query` as Drizzle takes it: its text in pieces, and between them the parameters, which Drizzle numbers itself. */
export function toDrizzleSql({ sql: text, parameters }: ExecutableQuery): SQL {
  if (parameters.length === 0) return sql.raw(text);
  const chunks: (SQL | ReturnType<typeof sql.param>)[] = [];
  let end = 0;
  for (const { 0: token, 2: number, index } of text.matchAll(tokens)) {
    if (number === undefined) continue;
    chunks.push(sql.raw(text.slice(end, index)), sql.param(parameters[Number(number) - 1]));
    end = index + token.length;
  }
  return sql.join([...chunks, sql.raw(text.slice(end))]);
}
