import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { dropDatabase, useTestDatabase } from "@queue/test-database";

const own = useTestDatabase({ template: "empty" });
const fixtures = fileURLToPath(new URL("./fixtures", import.meta.url));
const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs");

interface Report {
  readonly testResults: readonly { readonly name: string; readonly status: string; readonly message: string }[];
}

describe("after a run in which one file passes, one fails and one keeps a connection", () => {
  let output = "";
  let report: Report;

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), "queue-test-closing-"));
    const env = { ...process.env, FIXTURE_SERVER: JSON.stringify(inject("testServer")), NO_COLOR: "1" };
    const args = ["run", "--root", fixtures, "--reporter=default", "--reporter=json", `--outputFile=${join(folder, "report.json")}`];
    const run = promisify(execFile)(process.execPath, [vitest, ...args], { env });
    ({ stdout: output } = await run.catch((error: { stdout: string }) => error));
    report = JSON.parse(await readFile(join(folder, "report.json"), "utf8")) as Report;
    await rm(folder, { recursive: true });
  });

  function resultOf(file: string) {
    return report.testResults.find((result) => result.name.endsWith(file));
  }

  async function databasesLike(label: string): Promise<string[]> {
    const { rows } = await own.pool.query<{ name: string }>("select datname as name from pg_database where datname like $1", [
      `queue\\_${label}\\_%`,
    ]);
    return rows.map((row) => row.name);
  }

  test("the database of the file that passed is dropped", async () => {
    expect(resultOf("passes.fixture.ts")).toMatchObject({ status: "passed" });
    expect(await databasesLike("passes")).toEqual([]);
  });

  test("the database of the file that failed is kept, and its address printed", async () => {
    expect(resultOf("fails.fixture.ts")).toMatchObject({ status: "failed" });
    const [kept, ...others] = await databasesLike("fails");
    expect(others).toEqual([]);
    expect(output).toMatch(new RegExp(`is kept .*/${kept}`));
    await dropDatabase(inject("testServer"), String(kept));
  });

  test("the file that keeps a connection fails with a sentence instead of waiting for it, and its database is dropped", async () => {
    expect(resultOf("leaks.fixture.ts")).toMatchObject({ status: "failed" });
    expect(resultOf("leaks.fixture.ts")?.message).toContain("connections of the test's pools were taken and never released");
    expect(await databasesLike("leaks")).toEqual([]);
  });
});
