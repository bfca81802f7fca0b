import { join } from "node:path";
import { installProject } from "../install-project.js";
import { cachedFolder } from "./cache-folder.js";

/** A program from npm that is brought for the matrix, and is no dependency of the repository. */
export interface Tool {
  /** Its package on npm. */
  readonly name: string;
  readonly version: string;
  /** The file to run, from the package's root. */
  readonly file: string;
}

/** Installs `tool` into the cache, once. @returns the path of its file */
export async function bringTool({ name, version, file }: Tool): Promise<string> {
  const folder = await cachedFolder(join("tools", `${name.replace("/", "+")}-${version}`), (empty) =>
    installProject(empty, { [name]: version }),
  );
  return join(folder, "node_modules", name, file);
}
