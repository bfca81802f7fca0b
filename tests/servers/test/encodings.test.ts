import { Kysely, PostgresDialect, sql } from "kysely";
import pg from "pg";
import { afterAll, describe, expect, inject, test } from "vitest";
import { createQueue, job } from "@queue/core";
import { migrate } from "@queue/core/migrations";
import { useTestDatabase } from "@queue/test-database";
import { createWorker } from "@queue/worker";
import { doEverything, everything } from "./support/everything.js";
import { recordLogger } from "./support/recorded-logger.js";

const database = useTestDatabase({ template: "empty" });
const patient = { timeout: 15_000 };
const made: { readonly name: string; readonly pool: pg.Pool }[] = [];

afterAll(async () => {
  for (const { name, pool } of made) {
    await pool.end();
    await database.pool.query(`drop database ${name} with (force)`);
  }
});

async function databaseIn(encoding: string): Promise<Kysely<unknown>> {
  const own = new URL(database.url);
  const name = `${own.pathname.slice(1)}_${encoding.toLowerCase()}_${made.length}`;
  const provider = inject("testServer").version >= 150_000 ? "locale_provider libc" : "";
  await database.pool.query(`create database ${name} template template0 encoding '${encoding}' lc_collate 'C' lc_ctype 'C' ${provider}`);
  own.pathname = `/${name}`;
  const pool = new pg.Pool({ connectionString: own.href });
  // Goodbyes that are on their way when the database is dropped end with an error, of the pool or of a client.
  pool.on("error", () => {}).on("connect", (client) => client.on("error", () => {}));
  made.push({ name, pool });
  return new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
}

describe("a database", () => {
  test("in SQL_ASCII, which knows no characters, gives back what it was given", async () => {
    const db = await databaseIn("SQL_ASCII");
    await migrate(db, { schema: "queue" });
    await sql`create table queue.ledger (entry text)`.execute(db);
    expect(await doEverything({ schema: "queue", db })).toEqual(everything);
  });

  test("in LATIN1 refuses what it has no characters for, and takes the rest", async () => {
    const db = await databaseIn("LATIN1");
    const queue = createQueue({ jobs: { a: job<string>() } });
    await migrate(db, queue);
    await expect(queue.enqueue(db, "a", "😀")).rejects.toMatchObject({ code: "22P05" });
    const { id } = await queue.enqueue(db, "a", "äß");
    expect((await queue.admin(db).job(id))?.payload).toBe("äß");
  });

  test("in LATIN1 takes the error of a handler whose text it has no characters for", async () => {
    const db = await databaseIn("LATIN1");
    const queue = createQueue({ schema: "other", jobs: { a: job<string>({ maxAttempts: 1 }), b: job({ maxAttempts: 1 }) } });
    await migrate(db, queue);
    const worker = createWorker({
      queue,
      db,
      logger: recordLogger(),
      pollInterval: 25,
      sweepInterval: 100,
      lease: "1s",
      heartbeat: 200,
      handlers: {
        a: () => {
          throw new Error("no 😀");
        },
        b: () => {},
      },
    });
    await worker.start();
    try {
      const { id } = await queue.enqueue(db, "a", "x");
      await expect.poll(async () => (await queue.admin(db).job(id))?.status, patient).toBe("dead");
      expect((await queue.admin(db).job(id))?.lastError).toMatch(/^no /);
    } finally {
      await worker.stop({ grace: 0 });
    }
  });
});
