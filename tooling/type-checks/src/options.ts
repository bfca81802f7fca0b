import { parseArgs } from "node:util";

export interface Options {
  readonly kinds: number;
  /** How many times each program is checked. */
  readonly rounds: number;
  /** Versions of TypeScript that are installed for the run, beside those of the repository. */
  readonly also: readonly string[];
}

export const usage = `npm run bench:types -- [options]

  --kinds 500     so many kinds
  --rounds 5      so many rounds; each checks the empty queue and the full one with every TypeScript
  --also 5.9      another TypeScript, installed into a temporary folder; may be given several times`;

/** @throws Error that says what is wrong with the arguments */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      kinds: { type: "string", default: "500" },
      rounds: { type: "string", default: "5" },
      also: { type: "string", multiple: true, default: [] },
    },
  });
  return { kinds: readNumber("--kinds", values.kinds), rounds: readNumber("--rounds", values.rounds), also: values.also };
}

function readNumber(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new Error(`${name} must be a whole number from 1, but is ${text}.`);
  return number;
}
