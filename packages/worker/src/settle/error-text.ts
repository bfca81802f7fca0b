import type { Outcome } from "../run/decide-outcome.js";

/** untranslatable_character: the database's encoding lacks a character. */
export const untranslatable = "22P05";

/** Whether an error of the outcome has characters that a database of another encoding than UTF-8 may lack. */
export function hasForeignText(outcome: Outcome): boolean {
  return "error" in outcome && inAscii(outcome) !== outcome;
}

/** The outcome with `?` for what every database has not; the same one when there is nothing to change. */
export function inAscii(outcome: Outcome): Outcome {
  if (!("error" in outcome)) return outcome;
  const { name, message, stack } = outcome.error;
  const error = { name: reduce(name), message: reduce(message), stack: stack === undefined ? undefined : reduce(stack) };
  const isSame = error.name === name && error.message === message && error.stack === stack;
  return isSame ? outcome : { ...outcome, error };
}

function reduce(text: string): string {
  return text.replace(/[^\x20-\x7E\s]/gu, "?");
}
