import { defineConfig, mergeConfig } from "vitest/config";
import root from "../../../vitest.config.js";
import { allMutants } from "./all-mutants.js";
import { replaceSource } from "./replace-source.js";

/** `MUTANT=name npx vitest run --config tooling/mutants/src/mutated.config.ts --root . file`: a test as the mutant lets it be. */
const name = process.env["MUTANT"];
const mutant = allMutants.find((one) => one.name === name);
if (mutant === undefined && name !== undefined) throw new Error(`There is no mutant ${JSON.stringify(name)}.`);

export default mergeConfig(
  root,
  defineConfig({
    plugins: mutant === undefined ? [] : [replaceSource(mutant, process.env["MUTANT_SEEN_FILE"])],
    // Types are not broken here, and the sources of a mutant need not fit them.
    test: { typecheck: { enabled: false } },
  }),
);
