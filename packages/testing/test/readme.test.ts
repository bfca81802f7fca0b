import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import ts from "typescript";
import { afterAll, describe, expect, it } from "vitest";
import { snippetsOf } from "./support/snippets.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
// Inside the repository, so that packages resolve as they do for its own code.
const cache = join(root, "node_modules/.cache");
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, "testing-readme-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const [withVitest = "", withNode = ""] = await snippetsOf(new URL("../README.md", import.meta.url));
writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
writeFileSync(join(folder, "with-vitest.ts"), withVitest);
writeFileSync(join(folder, "with-node.ts"), withNode);

describe("the snippets of the README", () => {
  it("compile under the strictest settings", async () => {
    const config = {
      extends: join(root, "tsconfig.tests.json"),
      compilerOptions: { tsBuildInfoFile: join(folder, ".tsbuildinfo") },
      include: ["*.ts"],
      exclude: [],
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    const compiler = join(root, "node_modules/typescript-7/bin/tsc");
    const output = await promisify(execFile)(process.execPath, [compiler, "-p", folder]).then(
      () => "",
      (error: { stdout: string }) => error.stdout,
    );
    expect(output).toBe("");
  });

  it("run with node:test, against the built packages", async () => {
    const { outputText } = ts.transpileModule(withNode, {
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 },
    });
    const file = join(folder, "with-node.mjs");
    writeFileSync(file, outputText);
    const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...env } = process.env;
    const { stdout } = await promisify(execFile)(process.execPath, ["--test", "--test-reporter=tap", file], { env });
    expect(stdout).toMatch(/^# pass 1$/m);
    expect(stdout).toMatch(/^# fail 0$/m);
  });

  describe("run with vitest:", async () => {
    // Registers its own test here.
    await import(join(folder, "with-vitest.ts"));
  });
});
