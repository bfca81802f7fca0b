import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import type { ChaosResult } from "../src/chaos/chaos-run.js";
import { barRule } from "../src/chaos/oracle.js";

const main = fileURLToPath(new URL("../dist/chaos/main.js", import.meta.url));
/** So few jobs a second that a machine which runs other tests at the same time keeps up. */
const options = ["--seconds", "18", "--seed", "7", "--rate", "150", "--json"];

it("a short run of every fault loses nothing, doubles nothing and leaves nothing stuck", { timeout: 240_000 }, async () => {
  expect(existsSync(main), "built by `npm test`, or by `npm run build`").toBe(true);
  const { stdout } = await promisify(execFile)(process.execPath, [main, ...options], { maxBuffer: 2 ** 28 }).catch(
    // What was broken is in the report; a run that did not come to one has nothing there.
    (error: { stdout: string; stderr: string }) => ({ stdout: error.stdout || error.stderr }),
  );
  const { violations, misbehaviour, histories, faults, jobs } = JSON.parse(stdout) as ChaosResult;
  // How soon a job starts again depends on what else the machine does; `npm run chaos` judges that, too.
  const broken = violations
    .filter(({ rule, count }) => count > 0 && rule !== barRule)
    .map(({ rule, count, findings }) => ({ rule, count, first: findings.slice(0, 3) }));
  expect({ broken, misbehaviour }, JSON.stringify(histories, undefined, 2)).toEqual({ broken: [], misbehaviour: [] });
  // A run that did nothing would be green as well.
  expect(jobs).toBeGreaterThan(1_000);
  expect(faults).toHaveLength(14);
});
