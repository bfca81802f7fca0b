import { describe, expect, test } from "vitest";
import { useTestDatabase } from "@queue/test-database";
import { startApp } from "./app-process.js";

const database = useTestDatabase({ template: "empty" });

/** The numbers of the summary, by their names. */
function summaryOf(output: string): Record<string, number> {
  return Object.fromEntries(
    [...output.matchAll(/^ {2}(\S[a-z- ]*?) {2,}(\d+)(?: ms)? {2}/gm)].map((match) => [match[1], Number(match[2])]),
  );
}

function expectSummary(output: string): void {
  const summary = summaryOf(output);
  expect(Object.keys(summary)).toEqual(["orders", "refused for stock", "jobs done", "retries", "dead", "slowest pick-up", "mails sent"]);
  expect((summary["orders"] ?? 0) + (summary["refused for stock"] ?? 0)).toBe(40);
  expect((summary["jobs done"] ?? 0) + (summary["dead"] ?? 0)).toBe(3 * (summary["orders"] ?? 0));
  for (const name of ["refused for stock", "retries", "dead"]) expect(summary[name]).toBeGreaterThan(0);
  expect(output).toContain(`${summary["mails sent"]}  for ${summary["mails sent"]} receipts done`);
  expect(output.match(/^ {2}kept {4}/gm)).toHaveLength(7);
  expect(output).not.toContain("broken");
}

describe("--once", () => {
  test("on the embedded database prints the summary and ends with 0", { timeout: 90_000 }, async () => {
    const demo = startApp("demo", { args: ["--once"], env: { CI: "true" } });

    expect(await demo.exitCode, demo.output()).toBe(0);
    expectSummary(demo.output());
    expect(demo.output(), "colours are for terminals").not.toContain("\u001b");
    expect(demo.output()).toMatch(/^The page: http:\/\/127\.0\.0\.1:\d+\/$/m);
    expect(demo.output()).toContain("order, lines, stock and three jobs written in one transaction");
  });

  test("uses the server that DATABASE_URL names, also one that has orders from before", { timeout: 90_000 }, async () => {
    for (const run of ["first", "second"]) {
      const demo = startApp("demo", { args: ["--once"], env: { DATABASE_URL: database.url } });

      expect(await demo.exitCode, `${run}: ${demo.output()}`).toBe(0);
      expectSummary(demo.output());
    }
  });
});

test("until Ctrl-C it places orders; then it drains, and ends with 0", { timeout: 60_000 }, async () => {
  const demo = startApp("demo", { env: { DATABASE_URL: database.url } });
  const [, page = ""] = await demo.printed(/The page: (\S+)/);
  await demo.printed(/Order S-\d+ of /);
  expect((await fetch(page)).status).toBe(200);

  demo.signal("SIGINT");

  expect(await demo.exitCode, demo.output()).toBe(0);
  expect(demo.output()).toContain("No more orders.");
  const { rows } = await database.pool.query<{ count: string }>("select count(*) from queue.jobs where status = 'running'");
  expect(rows[0]?.count).toBe("0");
});

test.each([
  ["an argument that it does not know", ["--twice"], {}],
  ["a port that is none", [], { PORT: "http" }],
])("%s is refused with the usage", async (_name, args, env) => {
  const demo = startApp("demo", { args, env });

  expect(await demo.exitCode).toBe(2);
  expect(demo.output()).toContain("npm run demo -- --once");
});
