import { migrate } from "@queue/core/migrations";
import { useTestDatabase } from "@queue/test-database";
import { Kysely, PostgresDialect } from "kysely";
import { expect, test } from "vitest";
import { isWaiting, openSession } from "../src/session.js";

const database = useTestDatabase({ template: "empty" });

/** An application with one connection, which is known. */
async function openApplication() {
  const pool = database.newPool({ max: 1 });
  const { rows } = await pool.query<{ pid: number }>("select pg_backend_pid() as pid");
  return { pid: rows[0]?.pid ?? 0, db: new Kysely<object>({ dialect: new PostgresDialect({ pool }) }) };
}

/** The tables, and the functions for other languages. */
const steps = ["0001-initial", expect.stringMatching(/^functions-/)];

test.each([
  ["rollback", "everything", steps],
  ["commit", "nothing", []],
] as const)("a second migrator waits for the first one's transaction, and after its %s applies %s", async (end, _what, applied) => {
  await database.pool.query("drop schema if exists queue cascade");
  await using observer = await openSession(database.url);
  const [first, second] = [await openApplication(), await openApplication()];
  const trx = await first.db.startTransaction().execute();
  expect(await migrate(trx)).toEqual({ schema: "queue", applied: steps });
  const migrated = migrate(second.db);
  expect(await isWaiting(observer, second, migrated)).toBe(true);
  await trx[end]().execute();
  expect(await migrated).toEqual({ schema: "queue", applied });
  const { rows } = await database.pool.query("select name from queue.migrations order by name");
  expect(rows).toEqual(steps.map((name) => ({ name })));
});
