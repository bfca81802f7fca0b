import { useTestDatabase } from "@queue/test-database";
import { describe, expect, it } from "vitest";
import { runCli, runJson } from "./support/run-cli.js";

const database = useTestDatabase({ template: "empty" });

describe("queue migrate", () => {
  it("creates the tables, and says that there is nothing to do the next time", async () => {
    const first = await runCli(["migrate"], { url: database.url });
    expect(first).toMatchObject({ code: 0, stderr: "" });
    expect(first.stdout).toMatch(/^Schema queue: applied 0001-initial.*\.\n$/);
    expect(await runCli(["migrate"], { url: database.url })).toEqual({ code: 0, stdout: "Schema queue is up to date.\n", stderr: "" });
    expect(await runJson(["migrate"], { url: database.url })).toEqual({ code: 0, json: { schema: "queue", applied: [] } });
  });

  it("takes another schema, and a connection string as a flag, which comes before DATABASE_URL", async () => {
    const { code, json } = await runJson<{ schema: string }>(["migrate", "--schema", 'odd "name"', "--url", database.url], {
      url: "postgres://nobody@127.0.0.1:1/nothing",
    });
    expect(code).toBe(0);
    expect(json.schema).toBe('odd "name"');
    const { rows } = await database.pool.query(`select count(*)::int as n from "odd ""name""".jobs`);
    expect(rows).toEqual([{ n: 0 }]);
  });

  it("prints the script without a database, which makes the same tables", async () => {
    const { code, stdout } = await runCli(["migrate", "--sql", "--schema", "by_hand"]);
    expect(code).toBe(0);
    await database.pool.query(stdout);
    expect(await runJson(["migrate", "--schema", "by_hand"], { url: database.url })).toMatchObject({ code: 0, json: { applied: [] } });
  });

  it("says in one sentence when it lacks the right, with the state of the server", async () => {
    await database.pool.query("create role visitor_of_migrate login password 'pw'");
    const url = new URL(database.url);
    url.username = "visitor_of_migrate";
    url.password = "pw";
    try {
      const { code, stdout, stderr } = await runCli(["migrate", "--schema", "mine"], { url: url.href });
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).toMatch(/^queue: The database says: permission denied for database .* \(42501\)\n$/);
    } finally {
      await database.pool.query("drop role visitor_of_migrate");
    }
  });
});
