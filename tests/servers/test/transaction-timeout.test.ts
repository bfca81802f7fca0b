import { Kysely, PostgresDialect, sql } from "kysely";
import { expect, inject, test } from "vitest";
import { createQueue, job } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import { createWorker, type WorkerEvent } from "@queue/worker";
import { recordLogger } from "./support/recorded-logger.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { write: job({ backoff: { base: 1 } }), plain: job() } });

test("a transaction that the server ends fails the attempt of its handler, and nothing else: the next attempt commits", async ({
  skip,
}) => {
  if (inject("testServer").version < 170_000) skip("PostgreSQL has transaction_timeout since 17");
  await database.pool.query("create table ledger (attempt int)");
  const pool = database.newPool({ options: "-c transaction_timeout=500ms" });
  // A connection that is lost while it is out of the pool is an event of its client.
  pool.on("connect", (client) => client.on("error", () => {}));
  const events: WorkerEvent[] = [];
  const worker = createWorker({
    queue,
    db: new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) }),
    logger: recordLogger(),
    pollInterval: 25,
    onEvent: (event) => void events.push(event),
    handlers: {
      write: {
        transactional: true,
        run: async ({ attempt }, { trx }) => {
          await sql`insert into ledger values (${attempt})`.execute(trx);
          if (attempt === 1) await sql`select pg_sleep(5)`.execute(trx);
        },
      },
      // Lasts as long, and has no transaction of ours around it.
      plain: async () => void (await database.pool.query("select pg_sleep(1)")),
    },
  });
  await worker.start();
  try {
    await queue.enqueueMany(new Kysely<unknown>({ dialect: new PostgresDialect({ pool: database.pool }) }), [
      { kind: "write", payload: null },
      { kind: "plain", payload: null },
    ]);
    await expect.poll(() => events.filter(({ type }) => type === "job.completed").length, { timeout: 15_000 }).toBe(2);
  } finally {
    await worker.stop();
  }
  expect(events.filter(({ type }) => type === "job.failed")).toMatchObject([{ kind: "write", attempt: 1 }]);
  expect((await database.pool.query("select attempt from ledger")).rows).toEqual([{ attempt: 2 }]);
});
