import { checkUnbuilt } from "../check-unbuilt.js";
import { type Environment, everyPackage } from "./environment.js";

/** What has not been built must not be published. */
export const unbuiltEnvironment: Environment = {
  id: "unbuilt",
  label: "packing without a build",
  does: "`npm pack` of a copy of the package without `dist` is refused, with a sentence",
  packages: everyPackage,
  check: (_lab, subject) => checkUnbuilt(subject),
};
