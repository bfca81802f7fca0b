import { describe, expect, inject, test } from "vitest";
import { useTestDatabase } from "@queue/test-database";

const database = useTestDatabase();

async function tableNames(): Promise<string[]> {
  const { rows } = await database.pool.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'queue'",
  );
  return rows.map((row) => row.name);
}

test("a test file gets a database of its own, with the migrated tables", async () => {
  const { rows } = await database.pool.query<{ name: string }>("select current_database() as name");
  expect(rows[0]?.name).toMatch(/^queue_use_test_database_[0-9a-f]{10}$/);
  expect(new URL(database.url).pathname).toBe(`/${rows[0]?.name}`);
  expect(await tableNames()).toContain("jobs");
});

test("what a test writes is seen by every pool of the file", async () => {
  const other = database.newPool({ max: 1, application_name: "other" });
  await database.pool.query("create table notes (text text)");
  await database.pool.query("insert into notes values ('seen')");
  const { rows } = await other.query("select text, current_setting('application_name') as name from notes");
  expect(rows).toEqual([{ text: "seen", name: "other" }]);
});

test("a connection that the server ends while it is idle does not end the test run", async () => {
  const pool = database.newPool({ max: 1 });
  const { rows } = await pool.query<{ pid: number }>("select pg_backend_pid() as pid");
  const gone = new Promise((resolve) => pool.once("remove", resolve));
  await database.pool.query("select pg_terminate_backend($1)", [rows[0]?.pid]);
  await gone;
  expect((await pool.query("select 1 as alive")).rows).toEqual([{ alive: 1 }]);
});

test("the template itself cannot be changed by a test", async () => {
  const url = new URL(database.url);
  url.pathname = `/${inject("testServer").migratedTemplate}`;
  const pool = database.newPool({ connectionString: url.href });
  await expect(pool.query("select 1")).rejects.toMatchObject({ code: "55000" });
});

describe("with an empty template", () => {
  const empty = useTestDatabase({ template: "empty" });

  test("the database holds nothing, and is another than the file's", async () => {
    expect(empty.url).not.toBe(database.url);
    const { rows } = await empty.pool.query("select from pg_namespace where nspname = 'queue'");
    expect(rows).toEqual([]);
  });
});
