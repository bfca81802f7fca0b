import { parseArgs } from "node:util";
import { allMutants } from "./all-mutants.js";
import type { Mutant } from "./mutant.js";

export interface Options {
  readonly mutants: readonly Mutant[];
  /** Only say which there are. */
  readonly isList: boolean;
  readonly isJson: boolean;
  /** So many at a time. */
  readonly parallel: number;
}

export const usage = `npm run test:mutants -- [options]

  --only NAME     this mutant; may be given several times, and * stands for anything
  --list          say which mutants there are, and run nothing
  --json          a JSON array instead of a table
  --parallel N    N mutants at a time (default 1)`;

/** @throws Error that says what is wrong with the arguments */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string", multiple: true },
      list: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      parallel: { type: "string", default: "1" },
    },
  });
  const parallel = Number(values.parallel);
  if (!Number.isInteger(parallel) || parallel < 1) throw new Error(`--parallel must be a whole number from 1, but is ${values.parallel}.`);
  return { mutants: choose(values.only), isList: values.list, isJson: values.json, parallel };
}

function choose(names: readonly string[] | undefined): readonly Mutant[] {
  if (names === undefined) return allMutants;
  const chosen = new Set(
    names.flatMap((name) => {
      const pattern = new RegExp(`^${name.split("*").map(quotePattern).join(".*")}$`);
      const found = allMutants.filter((mutant) => pattern.test(mutant.name));
      if (found.length === 0) throw new Error(`There is no mutant ${JSON.stringify(name)}. --list says which there are.`);
      return found;
    }),
  );
  return allMutants.filter((mutant) => chosen.has(mutant));
}

function quotePattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
