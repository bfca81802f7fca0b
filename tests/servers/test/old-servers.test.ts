import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createQueue, job, QueueError } from "@queue/core";
import { migrate } from "@queue/core/migrations";
import { type EmbeddedServer, startEmbeddedServer } from "@queue/test-database";
import { createWorker } from "@queue/worker";
import { recordLogger } from "./support/recorded-logger.js";

const queue = createQueue({ jobs: { a: job() } });

/** npm installs it where it has programs for the machine: on Linux with an x64 processor. */
function findPostgres13(): string | undefined {
  try {
    const native = join(dirname(createRequire(import.meta.url).resolve("postgres-13")), "..", "native");
    return existsSync(native) ? native : undefined;
  } catch {
    // It cannot be resolved: that is the answer.
    return undefined;
  }
}

const installation = findPostgres13();

describe("a server older than 14", () => {
  let server: EmbeddedServer | undefined;
  let pool: pg.Pool;
  let db: Kysely<unknown>;

  beforeAll(async () => {
    if (installation === undefined) return;
    server = await startEmbeddedServer({ installation });
    pool = new pg.Pool({ connectionString: server.url });
    // The server is stopped while the last of them are on their way out.
    pool.on("error", () => {});
    db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  });
  beforeEach(({ skip }) => {
    if (installation === undefined) skip("npm has no PostgreSQL 13 for this machine");
  });
  afterAll(async () => {
    if (server === undefined) return;
    await pool.end();
    await server.stop();
  });

  async function objects(): Promise<unknown> {
    const { rows } = await pool.query(
      `select (select count(*)::int from pg_namespace) as schemas, (select count(*)::int from pg_class) as relations,
              (select count(*)::int from pg_type) as types, (select count(*)::int from pg_proc) as functions`,
    );
    return rows;
  }

  test("is refused by migrate, which says why, before anything is created", async () => {
    expect(server?.version).toBeLessThan(140_000);
    const before = await objects();
    const refusal = await migrate(db, queue).catch((error: unknown) => error);
    expect(QueueError.is(refusal, "SERVER_TOO_OLD")).toBe(true);
    expect(refusal).toMatchObject({
      code: "SERVER_TOO_OLD",
      isRetryable: false,
      found: expect.stringMatching(/^13\.\d+/),
      message: expect.stringMatching(/^The queue needs PostgreSQL 14 or newer; this server is 13\.\d+.*\. Nothing was created\.$/),
    });
    expect(await objects()).toEqual(before);
  });

  test("is refused in the caller's transaction too, which can go on", async () => {
    await db.transaction().execute(async (trx) => {
      await expect(migrate(trx, queue)).rejects.toMatchObject({ code: "SERVER_TOO_OLD" });
      await trx.schema.createTable("mine").addColumn("n", "integer").execute();
    });
    const { rows } = await pool.query("select to_regclass('mine') is not null as there");
    expect(rows).toEqual([{ there: true }]);
  });

  test("has no tables for a worker or an enqueue, which say so", async () => {
    await expect(queue.enqueue(db, "a", null)).rejects.toMatchObject({ code: "SCHEMA_MISSING" });
    const worker = createWorker({ queue, db, logger: recordLogger(), handlers: { a: () => {} } });
    await expect(worker.start()).rejects.toMatchObject({ code: "SCHEMA_MISSING" });
    await worker.stop();
  });
});
