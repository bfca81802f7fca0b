import { basename } from "node:path";
import { compileConsumers, isForeign, type Resolution } from "../compile-consumers.js";
import { developedWith } from "../workspace-package.js";
import { type Environment, everyPackage } from "./environment.js";
import { judgeForeignTypes } from "./foreign-types.js";
import type { Lab } from "./lab.js";
import { bringTool } from "./tool.js";

const resolutions: readonly Resolution[] = ["bundler", "node16", "nodenext"];

/** The oldest that is promised, the last of the fifth, and those that the repository has for tools and for building. */
const versions = ["5.4.5", "5.9.3", developedWith("typescript", []), developedWith("typescript-7", [])];

/**
 * A consumer of each package compiles, however it resolves. All are compiled at once, which takes a tenth of the time: that each
 * finds its types alone is what `npm run test:package` shows.
 */
export const typescriptEnvironments: readonly Environment[] = versions.map((version) => {
  const id = `typescript-${version.split(".").slice(0, 2).join(".")}`;
  let compiled: Promise<readonly string[]> | undefined;
  return {
    id,
    label: `TypeScript ${version}`,
    does: "types: `strict`, `skipLibCheck: false`, `moduleResolution` bundler, node16 and nodenext",
    packages: everyPackage,
    async check(lab, { folder }) {
      compiled ??= compileEachWay(lab, { id, version });
      const name = basename(folder);
      return (await compiled).filter((complaint) => ownerOf(complaint) === name);
    },
  };
});

/** What nobody here owns, such as the types of others, is everybody's, and is told of with the first. */
function ownerOf(complaint: string): string {
  const owner = /(?:^|: )(?:consumers|node_modules\/@queue)\/([a-z-]+)[./]/.exec(complaint)?.[1];
  return owner ?? everyPackage[0];
}

async function compileEachWay(
  { projects }: Lab,
  { id, version }: { readonly id: string; readonly version: string },
): Promise<readonly string[]> {
  const tsc = await bringTool({ name: "typescript", version, file: "bin/tsc" });
  const project = await projects.together();
  const own: string[] = [];
  const foreign: string[] = [];
  for (const resolution of resolutions) {
    const complaints = await compileConsumers(projects.packages, project, { tsc, resolution });
    own.push(...complaints.filter((complaint) => !isForeign(complaint)).map((complaint) => `${resolution}: ${complaint}`));
    foreign.push(...complaints.filter(isForeign));
  }
  return [...own, ...judgeForeignTypes(foreign, id)];
}
