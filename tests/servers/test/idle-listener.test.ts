import { Kysely, PostgresDialect } from "kysely";
import { expect, test } from "vitest";
import { createQueue, job } from "@queue/core";
import { pgListener } from "@queue/pg";
import { useTestDatabase } from "@queue/test-database";
import { createWorker, type WorkerEvent } from "@queue/worker";
import { recordLogger } from "./support/recorded-logger.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job() } });

test("a listener whose idle sessions the server ends goes on hearing, and is not lost again and again", async () => {
  const options = "-c idle_session_timeout=500ms";
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: database.newPool({ options }) }) });
  const events: WorkerEvent[] = [];
  const worker = createWorker({
    queue,
    db,
    logger: recordLogger(),
    pollInterval: "60s",
    listener: pgListener({ connectionString: database.url, options }),
    onEvent: (event) => void events.push(event),
    handlers: { a: () => {} },
  });
  await worker.start();
  try {
    for (let n = 1; n <= 3; n++) {
      // Several times longer than a session may be idle, by the server's clock.
      await database.pool.query("select pg_sleep(2)");
      await queue.enqueue(db, "a", null);
      await expect.poll(() => events.filter(({ type }) => type === "job.completed").length, { timeout: 5_000 }).toBe(n);
    }
  } finally {
    await worker.stop();
  }
  expect(events.filter(({ type }) => type === "worker.error")).toEqual([]);
  expect(events.filter(({ type }) => type === "worker.listening")).toHaveLength(1);
});
