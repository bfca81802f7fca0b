import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** The checkout: from `src` as from `dist`. */
export const repository = fileURLToPath(new URL("../../../", import.meta.url));

/** A folder with a program in it, where the libraries of the checkout are found. It is gone when it is disposed of. */
export interface ProgramFolder extends AsyncDisposable {
  readonly path: string;
}

/**
 * Writes a program, compiled under the settings of the repository, against the `"sources"` of its packages, or against what they
 * are `"built"` to, which is what their users have.
 *
 * @param files names to texts
 */
export async function programFolder(files: ReadonlyMap<string, string>, against: "sources" | "built"): Promise<ProgramFolder> {
  const cache = `${repository}node_modules/.cache`;
  await mkdir(cache, { recursive: true });
  const path = await mkdtemp(`${cache}/type-checks-`);
  const config = {
    extends: `${repository}${against === "sources" ? "tsconfig.tests.json" : "tsconfig.base.json"}`,
    compilerOptions: {
      noEmit: true,
      composite: false,
      declaration: false,
      declarationMap: false,
      incremental: false,
      tsBuildInfoFile: null,
    },
    include: ["*.ts"],
    exclude: [],
  };
  await writeFile(`${path}/tsconfig.json`, JSON.stringify(config));
  await Promise.all([...files].map(([name, text]) => writeFile(`${path}/${name}`, text)));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}
