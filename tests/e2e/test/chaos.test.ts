import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const main = fileURLToPath(new URL("../dist/chaos/main.js", import.meta.url));

it("a short run of every fault loses nothing, doubles nothing and leaves nothing stuck", { timeout: 240_000 }, async () => {
  expect(existsSync(main), "built by `npm test`, or by `npm run build`").toBe(true);
  const { stdout } = await promisify(execFile)(process.execPath, [main, "--seconds", "25", "--seed", "7"]).catch(
    (error: { stdout: string; stderr: string }) => ({ stdout: `failed\n${error.stdout}\n${error.stderr}` }),
  );
  expect(stdout).not.toContain("failed");
  // A run that did nothing would be green as well.
  expect(Number(/(\d+) jobs/.exec(stdout)?.[1])).toBeGreaterThan(200);
});
