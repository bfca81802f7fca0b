import { InvalidArgumentError } from "@commander-js/extra-typings";

/** For options that take a whole number. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("It has to be a whole number.");
  return Number(text);
}

/** For options that take a moment. */
export function instant(text: string): Date {
  const date = new Date(text);
  if (!/^\d{4}-/.test(text) || Number.isNaN(date.getTime()))
    throw new InvalidArgumentError("It has to be a time such as 2026-11-29T12:00:00Z.");
  return date;
}
