import { type Compilable, type RawBuilder, sql } from "kysely";
import type { Executor } from "../ports/executor.js";

/** Stands in a query while it is compiled; `bind` puts the value in its place. */
class Placeholder {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/**
 * The placeholders of a statement, typed by its input. Each is bound as text or a number and cast in SQL, so that every driver
 * and ORM sends the same: lists go as one JSON text, ids as strings, never a JavaScript array, Date or bigint.
 */
export interface Placeholders<TInput> {
  text(name: keyof TInput & string): RawBuilder<string>;
  int(name: keyof TInput & string): RawBuilder<number>;
  bigint(name: keyof TInput & string): RawBuilder<string>;
  boolean(name: keyof TInput & string): RawBuilder<boolean>;
  /** A JSON text, as jsonb. */
  json(name: keyof TInput & string): RawBuilder<unknown>;
  /** An array literal of ids (`{1,2,3}`), as bigint[]. */
  bigints(name: keyof TInput & string): RawBuilder<readonly string[]>;
  /** An array literal of whole numbers, as integer[]. */
  ints(name: keyof TInput & string): RawBuilder<readonly number[]>;
  /** An array literal of texts, see `toArrayLiteral`, as text[]. */
  texts(name: keyof TInput & string): RawBuilder<readonly string[]>;
  /** Milliseconds, as an interval. */
  interval(name: keyof TInput & string): RawBuilder<string>;
}

export function placeholders<TInput>(): Placeholders<TInput> {
  const at = (name: string) => sql`${new Placeholder(name)}`;
  return {
    text: (name) => sql`${at(name)}::text`,
    int: (name) => sql`${at(name)}::int`,
    bigint: (name) => sql`${at(name)}::text::int8`,
    boolean: (name) => sql`${at(name)}::text::bool`,
    json: (name) => sql`${at(name)}::text::jsonb`,
    bigints: (name) => sql`${at(name)}::text::int8[]`,
    ints: (name) => sql`${at(name)}::text::int4[]`,
    texts: (name) => sql`${at(name)}::text::text[]`,
    interval: (name) => sql`(${at(name)}::text::float8 * interval '1 millisecond')`,
  };
}

/** What a placeholder can be bound to. */
export type Bindable = string | number | boolean | null;

/** A compiled statement: one text, whatever the input. */
export interface Statement<TInput, TRow> {
  readonly sql: string;
  bind(input: TInput): readonly Bindable[];
  /** Types only. */
  readonly "~row"?: TRow;
}

/** Compiles `query` once; its placeholders are filled at each run. */
export function defineStatement<TInput extends { readonly [K in keyof TInput]: Bindable }, TRow>(
  query: Compilable<TRow>,
): Statement<TInput, TRow> {
  const { sql: text, parameters } = query.compile();
  return Object.freeze({
    sql: text,
    bind: (input: TInput) =>
      parameters.map((parameter) => {
        const value = parameter instanceof Placeholder ? input[parameter.name as keyof TInput] : (parameter as Bindable);
        return typeof value === "boolean" || typeof value === "number" ? String(value) : value;
      }),
  });
}

/** Runs `statement`; its rows as the database returns them. */
export async function runStatement<TInput, TRow>(executor: Executor, statement: Statement<TInput, TRow>, input: TInput): Promise<TRow[]> {
  const { rows } = await executor.execute<TRow>({ sql: statement.sql, parameters: statement.bind(input) });
  return rows;
}

/** `values` as a PostgreSQL array literal: the same text for every driver. */
export function toArrayLiteral(values: readonly string[]): string {
  return `{${values.map((value) => `"${value.replace(/["\\]/g, "\\$&")}"`).join(",")}}`;
}
