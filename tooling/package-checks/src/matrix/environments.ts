import { bundleEnvironments } from "./bundle-environments.js";
import { commonjsEnvironments } from "./commonjs-environments.js";
import type { Environment } from "./environment.js";
import { nextEnvironment } from "./next-environment.js";
import { runtimeEnvironments } from "./runtime-environments.js";
import { sizeEnvironment } from "./size-environment.js";
import { twoCopiesEnvironment } from "./two-copies-environment.js";
import { typescriptEnvironments } from "./typescript-environments.js";
import { unbuiltEnvironment } from "./unbuilt-environment.js";

/** Where the packages are to work, in the order of the table. */
export const environments: readonly Environment[] = [
  ...typescriptEnvironments,
  ...runtimeEnvironments,
  ...commonjsEnvironments,
  ...bundleEnvironments,
  nextEnvironment,
  twoCopiesEnvironment,
];

/** What is checked of every package besides, and is no place to work in. */
export const guards: readonly Environment[] = [sizeEnvironment, unbuiltEnvironment];
