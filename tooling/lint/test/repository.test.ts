import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly workspaces?: readonly string[];
  readonly exports?: Readonly<Record<string, string | { readonly default: string }>>;
}

interface CompilerConfig {
  readonly references?: readonly { readonly path: string }[];
  readonly compilerOptions: { readonly paths: Readonly<Record<string, readonly string[]>> };
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as Manifest;
}

function readCompilerConfig(path: string): CompilerConfig {
  const { config, error } = ts.readConfigFile(join(root, path), (file) => readFileSync(file, "utf8")) as {
    config: CompilerConfig;
    error?: unknown;
  };
  expect(error).toBeUndefined();
  return config;
}

/** The folder of every workspace, from the root. */
function workspaceFolders(): string[] {
  const folders = readManifest(".").workspaces?.flatMap((pattern) => {
    if (!pattern.endsWith("/*")) return [pattern];
    const parent = dirname(pattern);
    return existsSync(join(root, parent)) ? readdirSync(join(root, parent)).map((name) => join(parent, name)) : [];
  });
  return (folders ?? []).filter((folder) => existsSync(join(root, folder, "package.json")));
}

const published = workspaceFolders().filter((folder) => readManifest(folder).private !== true);

test("there are packages to publish", () => {
  expect(published).toEqual(expect.arrayContaining(["packages/core", "packages/pg", "packages/pglite", "packages/worker"]));
});

test("the compiler's root project builds every workspace that is compiled", () => {
  const compiled = workspaceFolders().filter((folder) => existsSync(join(root, folder, "tsconfig.json")));
  const referenced = readCompilerConfig("tsconfig.json").references?.map(({ path }) => path);
  expect(referenced).toEqual(expect.arrayContaining(compiled));
});

describe.each(published)("%s", (folder) => {
  const entries = Object.entries(readManifest(folder).exports ?? {}).filter(([subpath]) => subpath !== "./package.json");

  test.each(entries)("publishes %s from a source of the same name", (subpath, target) => {
    const source = subpath === "." ? "index" : subpath.slice("./".length);
    expect(typeof target === "string" ? target : target.default).toBe(`./dist/${source}.js`);
    expect(existsSync(join(root, folder, "src", `${source}.ts`))).toBe(true);
  });

  test("carries the license of the repository", () => {
    expect(readFileSync(join(root, folder, "LICENSE"), "utf8")).toBe(readFileSync(join(root, "LICENSE"), "utf8"));
  });

  test("is checked by its sources, on both versions of kysely", () => {
    const { name } = readManifest(folder);
    for (const config of ["tsconfig.tests.json", "tsconfig.tests.kysely-029.json"]) {
      expect(readCompilerConfig(config).compilerOptions.paths).toMatchObject({ [name]: [`./${folder}/src/index.ts`] });
    }
  });
});

test("the types are checked on kysely 0.29 by the same paths, and kysely's", () => {
  const { paths } = readCompilerConfig("tsconfig.tests.json").compilerOptions;
  const { kysely, "kysely/*": kyselySubpaths, ...others } = readCompilerConfig("tsconfig.tests.kysely-029.json").compilerOptions.paths;
  expect(others).toEqual(paths);
  for (const target of [kysely, kyselySubpaths]) expect(relative("node_modules/kysely-029", target?.[0] ?? "")).not.toMatch(/^\.\./);
});
