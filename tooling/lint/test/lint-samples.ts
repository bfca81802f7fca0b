import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** One complaint of the linter. */
export interface Finding {
  /** `no-restricted-imports`, `import/no-cycle` … */
  readonly rule: string;
  readonly file: string;
  readonly message: string;
}

interface Diagnostic {
  readonly code: string;
  readonly filename: string;
  readonly message: string;
  readonly help?: string;
}

const root = fileURLToPath(new URL("../../..", import.meta.url));
const oxlint = join(packageFolder("oxlint"), "bin", "oxlint");
/** Rules that need types are run by a program of their own, which oxlint looks for beside the files. */
const env = { ...process.env, OXLINT_TSGOLINT_PATH: join(packageFolder("oxlint-tsgolint"), "bin", "tsgolint.js") };

/** Lints `samples` (path to text), as if they lay in the repository, under its own rules. */
export async function lintSamples(samples: ReadonlyMap<string, string>): Promise<Finding[]> {
  const folder = await mkdtemp(join(tmpdir(), "queue-lint-"));
  try {
    await copyFile(join(root, ".oxlintrc.json"), join(folder, ".oxlintrc.json"));
    await copyFile(join(root, "tsconfig.base.json"), join(folder, "tsconfig.base.json"));
    await writeFile(join(folder, "tsconfig.json"), `{ "extends": "./tsconfig.base.json", "compilerOptions": { "types": [] } }`);
    for (const [path, text] of samples) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    return await lintFolder(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function lintFolder(folder: string): Promise<Finding[]> {
  const run = promisify(execFile)(process.execPath, [oxlint, "--format=json"], { cwd: folder, env });
  // It exits with 1 when it finds something, which is what it is here for.
  const { stdout } = await run.catch((error: { readonly stdout: string }) => error);
  const { diagnostics } = JSON.parse(stdout) as { readonly diagnostics: readonly Diagnostic[] };
  return diagnostics.map(({ code, filename, message, help }) => ({
    rule: code.replace(/^eslint\((.+)\)$/, "$1").replace(/^(.+)\((.+)\)$/, "$1/$2"),
    file: filename,
    message: help === undefined ? message : `${message} ${help}`,
  }));
}

function packageFolder(name: string): string {
  return dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
}
