import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const base = fileURLToPath(new URL("../../../tsconfig.base.json", import.meta.url));
const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript-7/package.json")), "bin", "tsc");

/** What the compiler says to `text` under the settings of the repository. */
async function compile(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "queue-compile-"));
  try {
    await writeFile(join(folder, "sample.ts"), text);
    await writeFile(join(folder, "package.json"), `{ "type": "module" }`);
    await writeFile(
      join(folder, "tsconfig.json"),
      JSON.stringify({ extends: base, compilerOptions: { types: [], noEmit: true, composite: false }, files: ["sample.ts"] }),
    );
    const { stdout } = await promisify(execFile)(process.execPath, [tsc, "-p", folder]).catch(
      (error: { readonly stdout: string }) => error,
    );
    return stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("an enum is refused, because it is more than a type", async () => {
  expect(await compile("export enum Color { Red }\n")).toContain("error TS1294");
});

test("a namespace is refused, because it is more than a type", async () => {
  expect(await compile("export namespace Space { export const one = 1; }\n")).toContain("error TS1294");
});

test("plain code is not", async () => {
  expect(await compile("export const one = 1;\n")).toBe("");
});
