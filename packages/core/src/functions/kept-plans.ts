import { createHash } from "node:crypto";
import { quoteIdentifier } from "../migrations/quote.js";
import type { Bindable, Statement } from "../store/statement.js";
import { embedStatement, placeholderNames } from "./embed-statement.js";
import type { SqlFunction } from "./sql-function.js";

/** A statement that a function of the schema runs, and the call that does the same as the statement. */
export interface KeptPlan {
  readonly name: string;
  readonly statement: AnyStatement;
  readonly call: AnyStatement;
  readonly definition: SqlFunction;
}

/** Whatever it takes and answers: both are the same for a statement and its call. */
type AnyStatement = Statement<never, unknown>;

/** The columns of an answer, and their types. */
export type Columns = Readonly<Record<string, string>>;

/**
 * One plan for all calls of a session, made without looking at how large the tables are: that of an empty queue would read all
 * of a full one, 320 ms a claim instead of 3 ms behind 300,000 jobs, until the next ANALYZE. No scan of a whole table, then, and no
 * JIT, which starts by an estimate that the avoided scans have raised. The `search_path` stays the session's, as for the statements:
 * a trigger that somebody has put on the tables may need it.
 */
const settings = { plan_cache_mode: "force_generic_plan", enable_seqscan: "off", jit: "off" } as const;

const hashedSchema = "queue";

/**
 * Functions for statements that are worth to be planned once: parsing and planning is four fifths of a claim, of a settle, or of an
 * enqueue with a key. No driver prepares them, because their names would not survive a pooler; the plans of a function do.
 *
 * A function's name carries a hash of its text, so whoever calls it gets exactly what it would send, or, when an older or newer
 * release has migrated, sends it. The hash is the same in every schema: it is that of the text for one of them.
 */
export function keptPlans<TName extends string>(
  schema: string,
  statements: Readonly<Record<TName, AnyStatement>>,
  create: (schema: string) => Readonly<Record<TName, AnyStatement>>,
  columns: Readonly<Record<TName, Columns>>,
): readonly KeptPlan[] {
  const anywhere = schema === hashedSchema ? statements : create(hashedSchema);
  return (Object.keys(columns) as TName[]).map((key) => {
    const text = describeFunction(anywhere[key], columns[key]);
    const hash = createHash("sha256").update(JSON.stringify(text)).digest("hex").slice(0, 12);
    const name = `${snakeCase(key)}_${hash}`;
    const statement = statements[key];
    return {
      name,
      statement,
      definition: { name, isPlan: true, ...describeFunction(statement, columns[key]) },
      call: callOf(`${quoteIdentifier(schema)}.${name}`, statement, columns[key]),
    };
  });
}

/** The names of the placeholders, in the order of their first use. */
function placeholdersOf(statement: AnyStatement): { readonly all: readonly string[]; readonly names: readonly string[] } {
  const all = placeholderNames(statement) as readonly string[];
  return { all, names: [...new Set(all)] };
}

function describeFunction(statement: AnyStatement, answer: Columns): Omit<SqlFunction, "name"> {
  const { names } = placeholdersOf(statement);
  const given = Object.fromEntries(names.map((name) => [name, `given_${snakeCase(name)}`]));
  return {
    parameters: Object.values(given).map((parameter) => [parameter, "text"] as const),
    returns: `table (${Object.entries(answer)
      .map(([column, type]) => `${column} ${type}`)
      .join(", ")})`,
    settings,
    body: `
begin
  return query ${embedStatement(statement as Statement<object, unknown>, given)};
end`,
  };
}

/** Names the columns, because a driver that changes names is undone by those that stand in the statement. */
function callOf(target: string, statement: AnyStatement, answer: Columns): AnyStatement {
  const { all, names } = placeholdersOf(statement);
  const places = names.map((name) => all.indexOf(name));
  return Object.freeze({
    sql: `select ${Object.keys(answer).map(quoteIdentifier).join(", ")} from ${target}(${names.map((_, index) => `$${index + 1}::text`).join(", ")})`,
    bind(input: never): readonly Bindable[] {
      const values = statement.bind(input);
      return places.map((place) => values[place] ?? null);
    },
  });
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
