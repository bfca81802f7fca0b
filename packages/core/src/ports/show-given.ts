import { showValue } from "../errors/show-value.js";
import { hasMethods } from "./has-methods.js";

/**
 * What an adapter was given instead of an object of its library, for an error message: a forgotten `await` is named.
 *
 * @example `fromMine takes a transaction, but was given ${showGiven(trx)}.`
 */
export function showGiven(value: unknown): string {
  return hasMethods(value, "then") ? "a promise: an await is missing" : showValue(value);
}
