import { checkContents } from "../check-contents.js";
import { checkSize, writeSize } from "../check-size.js";
import { type Environment, everyPackage } from "./environment.js";

/** What each README says of size and dependencies is what an installation has. */
export const sizeEnvironment: Environment = {
  id: "size",
  label: "size and dependencies",
  does: "what the README says of them is measured in an installation; sizes to a tenth",
  packages: everyPackage,
  async check({ projects, write }, subject) {
    // What an older build has left would be measured, too.
    const unwanted = checkContents(await projects.tarball(subject));
    if (unwanted.length > 0) return unwanted;
    const project = await projects.together();
    if (write) await writeSize(subject, project);
    return checkSize(subject, project);
  },
};
