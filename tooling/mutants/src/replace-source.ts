import { writeFileSync } from "node:fs";
import type { Plugin } from "vite";
import type { Mutant } from "./mutant.js";
import { mutate } from "./mutate.js";
import { repository } from "./repository.js";

/** Replaces the mutant's text as its file is loaded; nothing on disk changes. Writes `seenFile` when that has happened. */
export function replaceSource(mutant: Mutant, seenFile: string | undefined): Plugin {
  const id = `${repository}/${mutant.file}`;
  return {
    name: "replace-source",
    enforce: "pre",
    transform(code, loaded) {
      if (loaded.split("?")[0] !== id) return null;
      const mutated = mutate(code, mutant);
      if (seenFile !== undefined) writeFileSync(seenFile, mutant.name);
      return { code: mutated, map: null };
    },
  };
}
