import type { Environment } from "./environment.js";
import { onceForAll } from "./once-for-all.js";
import { runNextApp } from "./run-next-app.js";

const nextVersion = "16.4.6";

/** A route handler of Next.js that enqueues, as it is built for production. */
export const nextEnvironment: Environment = {
  id: "next",
  label: `Next.js ${nextVersion}`,
  does: "`next build` and `next start` of an application whose route handler enqueues in a transaction",
  packages: ["core", "pg"],
  check: onceForAll((lab) => runNextApp(lab, nextVersion)),
};
