import type { Statement } from "../store/statement.js";

/** What stands in an embedded statement for each of its placeholders: the name of a variable. */
export type Given<TInput> = { readonly [K in keyof TInput & string]: string };

/** The name of the placeholder that each parameter of `statement` is bound to. */
export function placeholderNames<TInput, TRow>(statement: Statement<TInput, TRow>): readonly unknown[] {
  // Bound to an input that answers each placeholder with its own name.
  return statement.bind(new Proxy({}, { get: (_, name) => name }) as TInput);
}

/**
 * The text of `statement` for a function's body: variables where the placeholders are, casts and all else as it is. So a
 * function cannot drift from what workers in TypeScript send. Variables are called `given_…`, as no column is.
 *
 * @throws TypeError when the statement has a parameter that nothing is given for
 */
export function embedStatement<TInput, TRow>(statement: Statement<TInput, TRow>, given: Given<TInput>): string {
  const names = placeholderNames(statement);
  const variableOf = (number: string) => {
    const name = names[Number(number) - 1];
    const variable = typeof name === "string" ? (given as Readonly<Record<string, string>>)[name] : undefined;
    if (variable === undefined) throw new TypeError(`Nothing is given for ${String(name)}, which is $${number} of the statement.`);
    return variable;
  };
  // What is quoted may be a schema called "$1".
  return statement.sql.replaceAll(/"(?:[^"]|"")*"|'(?:[^']|'')*'|\$(\d+)/g, (text, number?: string) =>
    number === undefined ? text : variableOf(number),
  );
}
