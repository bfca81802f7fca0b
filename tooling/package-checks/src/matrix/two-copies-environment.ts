import type { Environment } from "./environment.js";
import { onceForAll } from "./once-for-all.js";
import { runOn } from "./run-on.js";
import { newestNode } from "./runtimes.js";

const packages = ["core", "worker", "pg"];

/** As when two dependencies of an application each bring the packages along. */
export const twoCopiesEnvironment: Environment = {
  id: "two-copies",
  label: "two copies in one process",
  does: "errors, executors, listeners and queues of one copy work with the other",
  packages,
  check: onceForAll(async (lab) => {
    const { projects } = lab;
    const first = await projects.some(packages);
    const second = await projects.some(packages, {}, "second-copy");
    const args = [first, second];
    return runOn({ runtime: newestNode, file: "two-copies.mjs", folder: first, databaseUrl: await lab.databaseUrl(), args });
  }),
};
