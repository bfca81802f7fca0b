import type { Sample } from "../sample.js";
import { type Verdict, verdict } from "./verdict.js";

/** So many are shown; the others are as many more. */
const shown = 3;

/** Whether anything happened that should not: a warning of Node, an error of a worker, a lost lease, a process that ended. */
export function judgeTroubles(samples: readonly Sample[]): Verdict {
  const troubles = samples.flatMap((sample) => sample.troubles);
  const first = troubles.slice(0, shown).join("; ");
  return verdict(
    "nothing goes wrong",
    troubles.length === 0,
    troubles.length === 0 ? "no warning, no error" : `${troubles.length}: ${first}`,
  );
}
