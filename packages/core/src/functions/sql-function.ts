import { createHash } from "node:crypto";
import { quoteBody, quoteIdentifier } from "../migrations/quote.js";
import { functionsEdition, padEdition } from "./function-steps.js";

/** A function in the queue's schema, in plpgsql: it keeps the plans of its statements, as a driver does that prepares them. */
export interface SqlFunction {
  readonly name: string;
  /** Name, type, and default if it has one. */
  readonly parameters: readonly (readonly [name: string, type: string, standard?: string])[];
  readonly returns: string;
  /** Is called by the name that its text gives it. */
  readonly isPlan?: boolean;
  /** Reads no table and changes nothing. */
  readonly isPure?: boolean;
  /** Settings of the server while it runs, instead of an empty `search_path`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Variables, if any, from `declare` on, and the body. In the body a parameter is `function.parameter`, since a bare name is a column. */
  readonly body: string;
}

/** Marks what is the queue's own, and may be dropped by it. */
export const markerPrefix = "-- queue function ";
/** Marks what keeps a plan, and is left for the processes of the release before. */
export const planMarkerPrefix = "-- queue plan ";

/**
 * The first line of a function's source: it says whether a function that is there has another signature, so that it must be dropped and
 * cannot be replaced; of one that keeps a plan, which edition had it last.
 */
export function markerOf({ name, isPlan, parameters, returns }: SqlFunction): string {
  if (isPlan === true) return `${planMarkerPrefix}${padEdition(functionsEdition)}`;
  const text = JSON.stringify([name, parameters, returns]);
  return `${markerPrefix}${createHash("sha256").update(text).digest("hex").slice(0, 12)}`;
}

/** Name and types, as `to_regprocedure` takes them. */
export function signatureOf(schema: string, { name, parameters }: SqlFunction): string {
  return `${quoteIdentifier(schema)}.${name}(${parameters.map(([, type]) => type).join(", ")})`;
}

/** The statement that creates the function, or puts it in the place of one with the same signature. Runs with the caller's rights. */
export function createFunction(schema: string, definition: SqlFunction): string {
  const { name, parameters, returns, isPure, settings = { search_path: "''" }, body } = definition;
  const list = parameters.map(
    ([parameter, type, standard]) => `${parameter} ${type}${standard === undefined ? "" : ` default ${standard}`}`,
  );
  const sets = Object.entries(settings).map(([setting, value]) => ` set ${setting} = ${value}`);
  return `create or replace function ${quoteIdentifier(schema)}.${name}(${list.join(", ")}) returns ${returns}
  language plpgsql ${isPure === true ? "immutable" : "volatile"}${sets.join("")} as ${quoteBody(`
${markerOf(definition)}
#variable_conflict use_column
${body.trim()}
`)}`;
}
